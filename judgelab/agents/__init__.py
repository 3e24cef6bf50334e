"""Who answers: recorded responses, rule-based strategies, prompted models."""
