"""Comparison of rulesets: differences, divergence of games, and the effect of each difference."""
