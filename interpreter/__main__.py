"""``python -m interpreter`` is the command line."""

from interpreter.cli.main import main

if __name__ == "__main__":
    main()
