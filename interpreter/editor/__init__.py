"""Editor support: queries about rulesets while they are written, and a language server."""
