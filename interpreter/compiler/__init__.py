"""From checked trees to something that runs."""
