"""Playing: matches, saved games, the keyboard and narration."""
