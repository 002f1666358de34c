"""Reading of files: from text to declarations, with the position of each value."""
