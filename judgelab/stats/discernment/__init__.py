"""How finely a judge discerns degraded texts (DHP paper)."""
