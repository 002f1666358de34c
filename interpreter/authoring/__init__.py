"""Files of rulesets while they are written: the first ones, and all that is invalid in them."""
