"""What produces the responses: a record, rules, a prompted LM, several models."""
