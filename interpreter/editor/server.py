"""Language server: translates requests of the language server protocol to the other modules of this package.

Positions in the protocol are lines and columns, with columns in UTF-16 units. Checks run in steps between requests and
restart when the text changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Protocol

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.source import SourceFile, Span
from interpreter.editor.completion import Proposal, complete
from interpreter.editor.navigation import Answers, Place, Symbol
from interpreter.editor.rename import RefusedRename, renamable, rename
from interpreter.editor.workspace import Desk
from interpreter.language.file_layout import tidy

__all__ = ["make_server", "offset_at", "position_of"]

PAUSE = 0.05
"""Seconds without a change before a check starts."""
LONG_PAUSE = 0.5
"""Seconds without a change before the slow part of a check starts."""

_SYMBOLS = {
    "section": lsp.SymbolKind.Namespace,
    "part": lsp.SymbolKind.Namespace,
    "rules": lsp.SymbolKind.Function,
    "tables": lsp.SymbolKind.Array,
    "triggers": lsp.SymbolKind.Event,
    "standing": lsp.SymbolKind.Event,
    "events": lsp.SymbolKind.Event,
    "kinds": lsp.SymbolKind.Enum,
    "tokens": lsp.SymbolKind.Enum,
    "cards": lsp.SymbolKind.Struct,
    "records": lsp.SymbolKind.Struct,
    "settings": lsp.SymbolKind.Constant,
    "interpretations": lsp.SymbolKind.Constant,
}
_SORTS = {
    "rule": lsp.CompletionItemKind.Function,
    "function": lsp.CompletionItemKind.Function,
    "key": lsp.CompletionItemKind.Property,
    "attribute": lsp.CompletionItemKind.Field,
    "local": lsp.CompletionItemKind.Variable,
    "state": lsp.CompletionItemKind.Variable,
    "table": lsp.CompletionItemKind.Value,
    "setting": lsp.CompletionItemKind.Constant,
    "member": lsp.CompletionItemKind.EnumMember,
    "node": lsp.CompletionItemKind.EnumMember,
    "word": lsp.CompletionItemKind.EnumMember,
    "type": lsp.CompletionItemKind.Class,
    "record": lsp.CompletionItemKind.Struct,
    "event": lsp.CompletionItemKind.Event,
    "file": lsp.CompletionItemKind.File,
    "statement": lsp.CompletionItemKind.Reference,
    "keyword": lsp.CompletionItemKind.Keyword,
}


# --- places -----------------------------------------------------------------------------------------------------------


def position_of(file: SourceFile, offset: int) -> lsp.Position:
    """Return line and column, both from 0, with the column in UTF-16 units."""
    line, column = file.position(offset)
    before = file.line(line)[: column - 1]
    return lsp.Position(line - 1, len(before.encode("utf-16-le")) // 2)


def offset_at(file: SourceFile, position: lsp.Position) -> int:
    """Return the offset in characters of a position, which may be beyond the end of a line or of the file."""
    number: int = position.line
    if number >= len(file.line_starts):
        return len(file.text)
    before = file.line(number + 1).encode("utf-16-le")[: 2 * position.character]
    return file.line_starts[number] + len(before.decode("utf-16-le", "replace"))


def _range(span: Span) -> lsp.Range:
    return lsp.Range(position_of(span.file, span.start), position_of(span.file, span.end))


def _uri(path: Path) -> str:
    found: str | None = uris.from_fs_path(str(path))
    assert found is not None
    return found


def _path(uri: str) -> Path | None:
    """Return the path of a file URI; None for other URIs."""
    found = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return Path(found) if found else None


# --- the server -------------------------------------------------------------------------------------------------------


class _AboutFile(Protocol):
    text_document: lsp.TextDocumentIdentifier


class _AtPlace(Protocol):
    position: lsp.Position


class _Session:
    """Session of an editor: its desk, the running check of each file, and the published diagnostics."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.desk = Desk()
        self.answers = Answers(self.desk)
        self.checks: dict[Path, asyncio.Task[None]] = {}
        self.typed = 0.0
        self.shown: dict[Path, list[Diagnostic]] = {}

    # --- texts

    def opened(self, path: Path, params: lsp.DidOpenTextDocumentParams) -> None:
        self._changed(path, params.text_document.text)

    def changed(self, path: Path, params: lsp.DidChangeTextDocumentParams) -> None:
        self._changed(path, params.content_changes[-1].text)

    def saved(self, path: Path, params: lsp.DidSaveTextDocumentParams) -> None:
        self._check(path)

    def closed(self, path: Path, params: lsp.DidCloseTextDocumentParams) -> None:
        self.desk.write(path, None)
        if path.is_file():
            self._check(path)

    def watched(self) -> None:
        """Check all open files again, since files have changed on disk."""
        self.desk.look_again()
        for path in self.desk.texts:
            self._check(path)

    def _changed(self, path: Path, text: str) -> None:
        self.desk.write(path, text)
        self.typed = monotonic()
        self._check(path)

    def _check(self, path: Path) -> None:
        """Restart the check of a file. Checks of other files continue."""
        if path in self.checks:
            self.checks[path].cancel()
        self.checks[path] = asyncio.get_running_loop().create_task(self._step_by_step(path))

    async def _step_by_step(self, path: Path) -> None:
        await asyncio.sleep(PAUSE)
        for diagnostics in self.desk.check(path):
            self._show(diagnostics)
            await asyncio.sleep(0.001)
        await self._rest()
        for diagnostics in self.desk.check_tables(path):
            self._show(diagnostics)
            await self._rest()

    async def _rest(self) -> None:
        """Wait until the author has paused, in all files."""
        await asyncio.sleep(0.001)
        while (left := self.typed + LONG_PAUSE - monotonic()) > 0:
            await asyncio.sleep(left)

    def _show(self, by_file: dict[Path, list[Diagnostic]]) -> None:
        for path in {*by_file, *self.shown}:
            diagnostics = by_file.get(path, [])
            if self.shown.get(path) != diagnostics:
                self.shown[path] = diagnostics
                items = [_diagnostic(each, self.desk) for each in diagnostics]
                params = lsp.PublishDiagnosticsParams(uri=_uri(path), diagnostics=items)
                self.server.text_document_publish_diagnostics(params)

    # --- requests

    def _offset(self, path: Path, params: _AtPlace) -> int:
        return offset_at(self.desk.file(path), params.position)

    def hover(self, path: Path, params: lsp.HoverParams) -> lsp.Hover | None:
        answer = self.answers.hover(path, self._offset(path, params))
        if answer is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, answer[0]), _range(answer[1]))

    def definition(self, path: Path, params: lsp.DefinitionParams) -> list[lsp.Location]:
        return _locations(self.answers.definition(path, self._offset(path, params)))

    def references(self, path: Path, params: lsp.ReferenceParams) -> list[lsp.Location]:
        declarations = params.context.include_declaration
        return _locations(self.answers.references(path, self._offset(path, params), declarations=declarations))

    def completion(self, path: Path, params: lsp.CompletionParams) -> lsp.CompletionList:
        proposals, piece = complete(self.desk, path, self._offset(path, params))
        return lsp.CompletionList(is_incomplete=False, items=[_item(each, _range(piece)) for each in proposals])

    def symbols(self, path: Path, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return list(map(_symbol, self.answers.symbols(path)))

    def renamable(self, path: Path, params: lsp.PrepareRenameParams) -> lsp.Range:
        return _range(renamable(self.answers, path, self._offset(path, params)))

    def rename(self, path: Path, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        places = rename(self.answers, path, self._offset(path, params), params.new_name)
        edits: dict[str, list[lsp.TextEdit]] = {}
        for place in dict.fromkeys(places):
            edits.setdefault(_uri(place.path), []).append(lsp.TextEdit(_range(place.span), params.new_name))
        return lsp.WorkspaceEdit(changes=edits)

    def formatting(self, path: Path, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        """Return edits of the lines that formatting changes; None if the file has syntax errors."""
        file = self.desk.file(path)
        written, _ = tidy(file)
        return None if written is None else list(_line_edits(file.text, written))


def make_server(version: str) -> LanguageServer:
    """Return a server with all features registered and no streams."""
    server = LanguageServer("regelwerk", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
    session = _Session(server)
    answers: dict[str, tuple[Callable[..., object], object]] = {
        lsp.TEXT_DOCUMENT_DID_OPEN: (session.opened, None),
        lsp.TEXT_DOCUMENT_DID_CHANGE: (session.changed, None),
        lsp.TEXT_DOCUMENT_DID_SAVE: (session.saved, None),
        lsp.TEXT_DOCUMENT_DID_CLOSE: (session.closed, None),
        lsp.TEXT_DOCUMENT_HOVER: (session.hover, None),
        lsp.TEXT_DOCUMENT_DEFINITION: (session.definition, None),
        lsp.TEXT_DOCUMENT_REFERENCES: (session.references, None),
        lsp.TEXT_DOCUMENT_COMPLETION: (session.completion, lsp.CompletionOptions([".", '"', "-", "/"])),
        lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (session.symbols, None),
        lsp.TEXT_DOCUMENT_PREPARE_RENAME: (session.renamable, None),
        lsp.TEXT_DOCUMENT_RENAME: (session.rename, lsp.RenameOptions(prepare_provider=True)),
        lsp.TEXT_DOCUMENT_FORMATTING: (session.formatting, None),
    }
    for name, (answer, options) in answers.items():
        server.feature(name, options)(partial(_answered, answer))
    server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)(lambda _: session.watched())
    return server


def _answered(answer: Callable[..., object], params: _AboutFile) -> object:
    """Answer a request about a file, or refuse it; None for URIs that are no files."""
    path = _path(params.text_document.uri)
    try:
        return answer(path, params) if path is not None else None
    except RefusedRename as refused:
        raise JsonRpcException(str(refused), lsp.LSPErrorCodes.RequestFailed) from None


# --- protocol types -------------------------------------------------------------------------------------------------


def _diagnostic(diagnostic: Diagnostic, desk: Desk) -> lsp.Diagnostic:
    nowhere = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(_uri(path), _range(note.span)), note.message)
        for note in diagnostic.notes
        if note.span is not None and (path := desk.path_of(note.span)) is not None
    ]
    notes = [note.message for note in diagnostic.notes if note.span is None]
    hints = [f"help: {diagnostic.help}"] if diagnostic.help else []
    return lsp.Diagnostic(
        range=_range(diagnostic.span) if diagnostic.span else nowhere,
        message="\n".join([diagnostic.message, *notes, *hints]),
        severity=lsp.DiagnosticSeverity.Error if diagnostic.severity == "error" else lsp.DiagnosticSeverity.Warning,
        code=diagnostic.code,
        source="regelwerk",
        related_information=related or None,
    )


def _locations(places: Iterable[Place]) -> list[lsp.Location]:
    return [lsp.Location(_uri(place.path), _range(place.span)) for place in places]


def _item(proposal: Proposal, piece: lsp.Range) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        label=proposal.text,
        kind=_SORTS.get(proposal.kind, lsp.CompletionItemKind.Text),
        detail=proposal.detail or None,
        documentation=proposal.about or None,
        sort_text=f"{proposal.rank}{proposal.text}",
        text_edit=lsp.TextEdit(piece, proposal.text),
    )


def _symbol(symbol: Symbol) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        name=symbol.name or "—",
        kind=_SYMBOLS.get(symbol.kind, lsp.SymbolKind.Variable),
        range=_range(symbol.span.to(symbol.name_span)),
        selection_range=_range(symbol.name_span),
        children=[_symbol(each) for each in symbol.children],
    )


def _line_edits(old: str, new: str) -> Iterable[lsp.TextEdit]:
    """Yield edits of whole lines, so that the cursor stays in place elsewhere."""
    from difflib import SequenceMatcher

    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    for operation, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if operation != "equal":
            lines = lsp.Range(lsp.Position(start, 0), lsp.Position(end, 0))
            yield lsp.TextEdit(lines, "".join(after[first:last]))
