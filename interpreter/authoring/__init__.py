"""Authoring of rulesets: templates for new files, and validation."""
