"""``regelwerk lsp``: run the language server for editors."""

from __future__ import annotations

import os
import sys

import click

from interpreter import __version__
from interpreter.base.extras import install_command

__all__ = ["command"]


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Use stdin and stdout. This is the default; some editors pass the option.")
def command(stdio: bool) -> None:
    """Run the language server on stdin and stdout. Your editor starts it; `docs/editors.md` describes the set-up.

    It provides diagnostics as `validate` does, in every ruleset that contains the file; completion, hover, definitions,
    references, rename, formatting and outlines. It needs the extra `lsp`.

    \b
    Examples:
      regelwerk lsp
      regelwerk lsp --stdio
    """
    try:
        from interpreter.editor.server import make_session
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs"):
            raise
        raise click.ClickException(f"the language server needs pygls: `{install_command('lsp')}`") from None
    # private copies of the streams, which the server may close; stray prints go to stderr
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr
    make_session(__version__).server.start_io(stdin, stdout)
