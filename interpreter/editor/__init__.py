"""Editor support: queries about files while they are edited, and a language server."""
