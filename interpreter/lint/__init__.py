"""Lint checks for rulesets, one module per check."""
