"""Pages for people: their content, and its rendering as HTML and Markdown."""
