"""A static site of the studio on a web space, exported once for all its tests."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.studio.parts import exported


class _Space(SimpleHTTPRequestHandler):
    """A web space: no compression, no headers."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A web space, with a site below a prefix that has the studio."""
    space = tmp_path_factory.mktemp("space")
    if built := os.environ.get("REGELWERK_SITE"):
        if not Path(built, "studio").is_dir():
            pytest.skip(f"{built} was built without the studio")
        shutil.copytree(built, space / "some")
        return space
    request.getfixturevalue("pyodide")
    shutil.copytree(exported(), space / "some" / "studio")
    return space


@pytest.fixture(scope="session")
def address(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Space, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/some/studio/"
    server.shutdown()
    server.server_close()
