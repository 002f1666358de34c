"""From a file's text to declarations, each value with its place."""
