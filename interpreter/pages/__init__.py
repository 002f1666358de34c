"""Pages that a person reads: what stands in them, and how it is written as HTML and Markdown."""
