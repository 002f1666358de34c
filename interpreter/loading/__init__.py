"""From files to rulesets: all checks in order, and rulesets from the cache."""
