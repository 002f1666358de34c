"""Advice on rulesets: one module a check."""
