"""Composed rulesets and the games they play."""
