"""Who makes the choices: bots, matches, kept logs."""
