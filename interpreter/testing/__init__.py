"""Tests of rulesets: scenarios, coverage, mutation, and the search for unsound games."""
