"""What an editor asks of rulesets while they are written, and a language server that answers."""
