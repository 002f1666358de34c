"""Language server: translates requests of the language server protocol to the other modules of this package.

Positions in the protocol are lines and columns, with columns in UTF-16 units. Checks run in steps between requests and
restart when the text changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Protocol
from unicodedata import normalize

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import JsonRPCProtocol

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.plain_data import grouped
from interpreter.base.remedies import Edit
from interpreter.base.source import SourceFile, Span
from interpreter.editor.completion import Proposal, complete
from interpreter.editor.fixes import fixes_of
from interpreter.editor.hints import hints
from interpreter.editor.lenses import Lens, lenses
from interpreter.editor.navigation import Answers, Place, Symbol
from interpreter.editor.rename import RefusedRename, renamable, rename
from interpreter.editor.tokens import KINDS, tokens
from interpreter.editor.workspace import Desk
from interpreter.language.file_layout import tidy

__all__ = ["Session", "make_session", "offset_at", "path_in", "position_of", "to_lsp", "uri_of"]

PAUSE = 0.03
"""Seconds without a change before a check starts."""
LONG_PAUSE = 0.5
"""Seconds without a change before the slow part of a check starts."""

_SYMBOLS = {
    **dict.fromkeys(("section", "part"), lsp.SymbolKind.Namespace),
    "rules": lsp.SymbolKind.Function,
    "tables": lsp.SymbolKind.Array,
    **dict.fromkeys(("triggers", "standing", "events"), lsp.SymbolKind.Event),
    **dict.fromkeys(("kinds", "tokens"), lsp.SymbolKind.Enum),
    **dict.fromkeys(("cards", "records"), lsp.SymbolKind.Struct),
    **dict.fromkeys(("settings", "interpretations"), lsp.SymbolKind.Constant),
}
_SORTS = {
    **dict.fromkeys(("rule", "function"), lsp.CompletionItemKind.Function),
    "key": lsp.CompletionItemKind.Property,
    "attribute": lsp.CompletionItemKind.Field,
    **dict.fromkeys(("local", "state"), lsp.CompletionItemKind.Variable),
    "table": lsp.CompletionItemKind.Value,
    "setting": lsp.CompletionItemKind.Constant,
    **dict.fromkeys(("member", "node", "word"), lsp.CompletionItemKind.EnumMember),
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
    if file.written == file.text and file.text.isascii():
        return lsp.Position(line - 1, column - 1)
    before, written = file.line(line)[: column - 1], _as_written(file, line)
    starts = (written[:end] for end in range(column - 1, len(written) + 1))
    before = next((start for start in starts if normalize("NFC", start) == before), before)
    return lsp.Position(line - 1, len(before.encode("utf-16-le")) // 2)


def offset_at(file: SourceFile, line: int, character: int) -> int:
    """Return the offset in characters of a position, which may be beyond the end of a line or of the file."""
    if line >= len(file.line_starts):
        return len(file.text)
    before = _as_written(file, line + 1).encode("utf-16-le")[: 2 * character]
    return file.line_starts[line] + len(normalize("NFC", before.decode("utf-16-le", "replace")))


def _as_written(file: SourceFile, line: int) -> str:
    """Return a line as the editor has it, whose letters may be composed in another way."""
    return file.line(line) if file.written == file.text else file.written.split("\n")[line - 1].rstrip("\r")


def _range(span: Span) -> lsp.Range:
    return lsp.Range(position_of(span.file, span.start), position_of(span.file, span.end))


def uri_of(path: Path) -> str:
    found: str | None = uris.from_fs_path(str(path))
    assert found is not None
    return found


def path_in(uri: str) -> Path | None:
    """Return the path of a file URI; None for other URIs."""
    found = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return Path(found) if found else None


# --- the server -------------------------------------------------------------------------------------------------------


class _AboutFile(Protocol):
    text_document: lsp.TextDocumentIdentifier


class Session:
    """Session of an editor: its desk, the running check of each file, and the published diagnostics. ``told`` is called
    when diagnostics are published, and with a file when those in one of its rulesets are, and later those in all; the
    others wait for ``between``."""

    def __init__(
        self, server: LanguageServer, told: Callable[[Path | None], object], between: Callable[[], Awaitable[None]]
    ) -> None:
        self.server, self.told, self.between = server, told, between
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
        for step, diagnostics in enumerate(self.desk.check(path)):
            self._show(diagnostics)
            if step == 1:
                self.told(path)
                await self.between()
            await asyncio.sleep(0.001)
        self.told(path)
        self._refresh()
        await self._rest()
        for diagnostics in self.desk.check_tables(path):
            self._show(diagnostics)
            await self._rest()

    async def _rest(self) -> None:
        """Wait until the author has paused, in all files."""
        await asyncio.sleep(0.001)
        while (left := self.typed + LONG_PAUSE - monotonic()) > 0:
            await asyncio.sleep(left)

    def _refresh(self) -> None:
        """Ask the editor for what it shows beside the text again, since the rulesets are known now."""
        able = self.server.client_capabilities.workspace
        for name in ("code_lens", "inlay_hint", "semantic_tokens"):
            if getattr(getattr(able, name, None), "refresh_support", False):
                getattr(self.server, f"workspace_{name}_refresh")(None)

    def _show(self, by_file: dict[Path, list[Diagnostic]]) -> None:
        for path in {*by_file, *self.shown}:
            diagnostics = by_file.get(path, [])
            if self.shown.get(path) != diagnostics:
                self.shown[path] = diagnostics
                items = [to_lsp(each, self.desk) for each in diagnostics]
                params = lsp.PublishDiagnosticsParams(uri=uri_of(path), diagnostics=items)
                self.server.text_document_publish_diagnostics(params)
                self.told(None)

    # --- requests

    def _offset(self, path: Path, position: lsp.Position) -> int:
        return offset_at(self.desk.file(path), position.line, position.character)

    def hover(self, path: Path, params: lsp.HoverParams) -> lsp.Hover | None:
        answer = self.answers.hover(path, self._offset(path, params.position))
        if answer is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, answer[0]), _range(answer[1]))

    def definition(self, path: Path, params: lsp.DefinitionParams) -> list[lsp.Location]:
        return _locations(self.answers.definition(path, self._offset(path, params.position)))

    def references(self, path: Path, params: lsp.ReferenceParams) -> list[lsp.Location]:
        declarations = params.context.include_declaration
        return _locations(self.answers.references(path, self._offset(path, params.position), declarations=declarations))

    def completion(self, path: Path, params: lsp.CompletionParams) -> lsp.CompletionList:
        proposals, piece = complete(self.desk, path, self._offset(path, params.position))
        return lsp.CompletionList(is_incomplete=False, items=[_item(each, _range(piece)) for each in proposals])

    def symbols(self, path: Path, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return list(map(_symbol, self.answers.symbols(path)))

    def renamable(self, path: Path, params: lsp.PrepareRenameParams) -> lsp.Range:
        return _range(renamable(self.answers, path, self._offset(path, params.position)))

    def rename(self, path: Path, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        return _edit(rename(self.answers, path, self._offset(path, params.position), params.new_name))

    def actions(self, path: Path, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        start, end = (self._offset(path, place) for place in (params.range.start, params.range.end))
        return [
            lsp.CodeAction(
                title=title,
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[to_lsp(each, self.desk)],
                edit=_edit(edits),
            )
            for each in self.shown.get(path, [])
            if each.span is not None and each.span.start <= end and each.span.end >= start
            for title, edits in fixes_of(self.desk, each)
        ]

    def lenses(self, path: Path, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        return [_lens(each, params.text_document.uri) for each in lenses(self.answers, path)]

    def hints(self, path: Path, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        file, place = self.desk.file(path), params.range
        found = hints(self.answers, path, self._offset(path, place.start), self._offset(path, place.end))
        return [lsp.InlayHint(position_of(file, at), text, tooltip=about or None) for at, text, about in found]

    def tokens(self, path: Path, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        """Return the tokens as the protocol packs them: five numbers each, positions relative to the one before."""
        data: list[int] = []
        line, column = 0, 0
        for span, kind, declares in tokens(self.answers, path):
            place, end = position_of(span.file, span.start), position_of(span.file, span.end)
            before = column if place.line == line else 0
            length = end.character - place.character
            data += [place.line - line, place.character - before, length, KINDS.index(kind), int(declares)]
            line, column = place.line, place.character
        return lsp.SemanticTokens(data)

    def folds(self, path: Path, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        return [lsp.FoldingRange(first - 1, last - 1) for first, last in self.answers.folds(path)]

    def search(self, params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
        return [
            lsp.SymbolInformation(_locations([place])[0], each.name, _sort(each), container_name=each.kind)
            for place, each in self.answers.search(params.query)
        ]

    def formatting(self, path: Path, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        """Return edits of the lines that formatting changes; None if the file has syntax errors."""
        file = self.desk.file(path)
        written, _ = tidy(file)
        return None if written is None else list(_line_edits(file.text, written))


def make_session(
    version: str,
    told: Callable[[Path | None], object] = lambda path: None,
    between: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(0),
) -> Session:
    """Return a session whose server has all features registered and no streams."""
    server = LanguageServer("regelwerk", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
    session = Session(server, told, between)
    logging.getLogger(JsonRPCProtocol.__module__).addFilter(_is_failure)
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
        lsp.TEXT_DOCUMENT_CODE_ACTION: (session.actions, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix])),
        lsp.TEXT_DOCUMENT_CODE_LENS: (session.lenses, lsp.CodeLensOptions()),
        lsp.TEXT_DOCUMENT_INLAY_HINT: (session.hints, None),
        lsp.TEXT_DOCUMENT_FOLDING_RANGE: (session.folds, None),
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: (
            session.tokens,
            lsp.SemanticTokensLegend(KINDS, [lsp.SemanticTokenModifiers.Declaration]),
        ),
    }
    for name, (answer, options) in answers.items():
        server.feature(name, options)(partial(_answered, answer))
    server.feature(lsp.WORKSPACE_SYMBOL)(partial(session.search))
    server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)(lambda _: session.watched())
    return session


def _answered(answer: Callable[..., object], params: _AboutFile) -> object:
    """Answer a request about a file, or refuse it; None for URIs that are no files."""
    path = path_in(params.text_document.uri)
    try:
        return answer(path, params) if path is not None else None
    except RefusedRename as refused:
        raise _Refused(str(refused), lsp.LSPErrorCodes.RequestFailed) from None


class _Refused(JsonRpcException):
    """Answer to a request that is refused with a reason. The library logs it like a failure of the server."""


def _is_failure(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], _Refused))


# --- protocol types -------------------------------------------------------------------------------------------------


def to_lsp(diagnostic: Diagnostic, desk: Desk) -> lsp.Diagnostic:
    nowhere = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri_of(path), _range(note.span)), note.message)
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


def _edit(edits: Iterable[tuple[Path, Edit]]) -> lsp.WorkspaceEdit:
    pairs = [(uri_of(path), lsp.TextEdit(_range(edit.span), edit.text)) for path, edit in edits]
    return lsp.WorkspaceEdit(grouped(pairs))


def _lens(lens: Lens, uri: str) -> lsp.CodeLens:
    about = _locations([lens.about]) if isinstance(lens.about, Place) else [lens.about]
    arguments = [uri, *about] if lens.command == "run" else about
    name = f"regelwerk.{lens.command}" if lens.about is not None else ""
    return lsp.CodeLens(_range(lens.span), lsp.Command(lens.title, name, arguments=arguments))


def _sort(symbol: Symbol) -> lsp.SymbolKind:
    return _SYMBOLS.get(symbol.kind, lsp.SymbolKind.Variable)


def _locations(places: Iterable[Place]) -> list[lsp.Location]:
    return [lsp.Location(uri_of(place.path), _range(place.span)) for place in places]


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
        kind=_sort(symbol),
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
