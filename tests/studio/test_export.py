"""What a static site needs and does not find is told, with the option that does without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.base.extras import Unavailable
from interpreter.studio.export import export


def _refused(folder: Path, pyodide: Path | None, wheels: Path | None) -> str:
    before = sorted(folder.rglob("*"))
    with pytest.raises(Unavailable) as raised:
        export(folder / "site", pyodide=pyodide, wheels=wheels, tell=lambda _: None)
    assert sorted(folder.rglob("*")) == before
    return str(raised.value)


@pytest.mark.parametrize("listed", ["", "[]", "{}", '{"sizes": {"index.html": 1}}'])
def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, listed: str) -> None:
    (tmp_path / "site" / ".doctrees").mkdir(parents=True)
    (tmp_path / "site" / "index.html").write_text("mine")
    if listed:
        (tmp_path / "site" / "site.json").write_text(listed)
    assert "want a new folder" in _refused(tmp_path, None, None)
    (tmp_path / "site" / ".doctrees").rmdir()
    if "sizes" in listed:  # an earlier export is written anew
        assert "is no copy of Pyodide" in _refused(tmp_path, tmp_path, tmp_path)


def test_a_copy_is_looked_at(tmp_path: Path) -> None:
    assert "is no copy of Pyodide" in _refused(tmp_path, tmp_path, tmp_path)
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"):
        (tmp_path / name).write_bytes(b"")
    assert "has no wheel of msgspec" in _refused(tmp_path, tmp_path, tmp_path)


def test_missing_programs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _refused(tmp_path, None, tmp_path).startswith("a static site needs `npm`")
    assert _refused(tmp_path, None, tmp_path).endswith("`--pyodide DIR` takes a copy")
