"""A client of the language server, which talks to a server process over two pipes like an editor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import IO, Any

__all__ = ["OVERLAY", "Client", "place"]

OVERLAY = """\
language: 2
overlay: goofspiel/handy
title: Handy
over: [goofspiel]

rules:
  bid_of:
    wraps: goofspiel
    cites: [GO-1]
    is: |
      base(who) + bonus(who)
  bonus(who) -> int: {about: "für 𝄞 Spieler", is: "count(who.spent)"}
"""


def place(text: str, piece: str, offset: int = 0, number: int = 0) -> dict[str, int]:
    """Return the position (UTF-16) ``offset`` characters after the start of a piece of text. ``number`` selects one of
    several occurrences."""
    start = -1
    for _ in range(number + 1):
        start = text.index(piece, start + 1)
    before = text[: start + offset]
    line = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


class Client:
    """One session. ``diagnostics`` are the last ones that the server sent, by path."""

    def __init__(self, folder: Path, environment: dict[str, str], log: IO[bytes] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "interpreter", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            cwd=folder,
        )
        self.number = 0
        self.diagnostics: dict[Path, list[dict[str, Any]]] = {}
        self.versions: dict[Path, int] = {}
        capabilities = {"general": {"positionEncodings": ["utf-16"]}}
        params = {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities}
        self.capabilities: dict[str, Any] = self.ask("initialize", params)["capabilities"]
        self.tell("initialized", {})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the server is gone"
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            path = Path(message["params"]["uri"].removeprefix("file://"))
            self.diagnostics[path] = message["params"]["diagnostics"]
        return message

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def asked(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request and return the whole response, which may be an error."""
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        while (message := self._receive()).get("id") != self.number:
            pass
        return message

    def ask(self, method: str, params: Any) -> Any:
        answer = self.asked(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, path: Path, text: str | None = None) -> None:
        self.versions[path] = 1
        text = path.read_text(encoding="utf-8") if text is None else text
        document = {"uri": path.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def change(self, path: Path, text: str) -> None:
        self.versions[path] += 1
        document = {"uri": path.as_uri(), "version": self.versions[path]}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def at(self, method: str, path: Path, position: dict[str, int], **more: Any) -> Any:
        """Send a request about a position and return its result."""
        return self.ask(
            f"textDocument/{method}", {"textDocument": {"uri": path.as_uri()}, "position": position, **more}
        )

    def wait_for_codes(self, path: Path, wanted: list[str]) -> list[dict[str, Any]]:
        """Read until a file has diagnostics with exactly these codes."""
        late = Timer(60, self.process.kill)
        late.start()
        while sorted(each["code"] for each in self.diagnostics.get(path, [{"code": "-"}])) != wanted:
            self._receive()
        late.cancel()
        return self.diagnostics[path]

    def end(self) -> int:
        """Shut the server down as the protocol requires, and return its exit status."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(timeout=30)
