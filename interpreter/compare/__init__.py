"""Comparison of rulesets: what differs, where games diverge, and how much each difference matters."""
