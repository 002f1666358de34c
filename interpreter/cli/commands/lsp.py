"""``regelwerk lsp``: a language server, for editors."""

from __future__ import annotations

import os
import sys

import click

from interpreter import __version__

__all__ = ["command"]


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Speak on stdin and stdout, as without it; editors like to say so.")
def command(stdio: bool) -> None:
    """Speaks the language server protocol on stdin and stdout. An editor starts it; `docs/editors.md` says how.

    While one types: mistakes as `validate` tells them, in every ruleset that contains the file; completion, hover,
    definitions, references, rename, layout, the outline of a file. It needs `pip install 'regelwerk[lsp]'`.

    \b
    Examples:
      regelwerk lsp
      regelwerk lsp --stdio
    """
    try:
        from interpreter.editor.server import make_server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs"):
            raise
        raise click.ClickException("the language server needs pygls: `pip install 'regelwerk[lsp]'`") from None
    # streams of its own, which it may close; what anything else prints goes to stderr
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr
    make_server(__version__).start_io(stdin, stdout)
