"""``regelwerk build``: compile a ruleset to a standalone WebAssembly module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.base.plain_data import Value, json_of
from interpreter.base.suggest import did_you_mean
from interpreter.cli import options
from interpreter.cli.output import as_json, notice, say

if TYPE_CHECKING:
    from interpreter.engine.game import Ruleset

__all__ = ["command"]


@click.command("build")
@options.ruleset_argument
@click.argument("file", metavar="FILE.wasm", type=click.Path(dir_okay=False, path_type=Path))
@options.overlays_option
@options.players_option()
@options.settings_option
@options.several_option(
    "--policy", "policies", metavar="NAME", about="Include a bot: a policy of the family or `random`.", default="all"
)
@options.requested("text", "json")
def command(request: options.Request, file: Path, policies: tuple[str, ...]) -> None:
    """Compile a ruleset to a standalone WebAssembly module, with a JSON manifest beside it: names of cells, options,
    events and texts. `docs/wasm.md` describes the interface.

    \b
    Examples:
      regelwerk build goofspiel game.wasm
      regelwerk build germany-2018 game.wasm --players 4 --policy sensible --policy random
      regelwerk build germany-2018 game.wasm --with start-cities -o json
    """
    options.suffix_of(file, ".wasm")
    setup = request.setup()
    loaded, bots = setup.ruleset, _policies(setup.ruleset, policies)
    from interpreter import __version__
    from interpreter.compiler.wasm.binary import binary_of
    from interpreter.play.module_export import standalone

    manifest_file = file.with_suffix(".json")
    for path in (file, manifest_file):
        options.can_be_written(path)
    built = standalone(loaded, setup.players, loaded.settings(setup.settings), bots)
    binary = binary_of(built.text)
    text = json_of({"regelwerk": __version__, **built.manifest}, 1) + "\n"
    file.write_bytes(binary)
    manifest_file.write_text(text, encoding="utf-8")
    _tell(built.manifest, {str(file): len(binary), str(manifest_file): len(text.encode())}, request.output)


def _policies(ruleset: Ruleset, names: tuple[str, ...]) -> list[str]:
    """Return the named bots of the module; by default all."""
    from interpreter.bots.registry import policies_for
    from interpreter.play.table_module import RANDOM

    known = [*policies_for(ruleset), RANDOM]
    for name in names:
        if name not in known:
            listed = ", ".join(f"`{each}`" for each in known)
            near = did_you_mean(name, known) or f"; there are {listed}"
            raise click.BadParameter(f"unknown policy `{name}`{near}", param_hint="--policy")
    return list(dict.fromkeys(names or known))


def _tell(manifest: Mapping[str, Value], files: dict[str, int], output: str) -> None:
    for name, why in manifest["left_out"].items():
        notice(f"left out: `{name}`, {why}; a game that reaches it ends with a trap")
    for policy in manifest["policies"]:
        if policy["by_chance"]:
            decisions = ", ".join(f"`{each}`" for each in policy["by_chance"])
            notice(f"policy `{policy['name']}` chooses at random at {decisions}, where it cannot be compiled")
    if output == "json":
        policies = [policy["name"] for policy in manifest["policies"]]
        data = {"ruleset": manifest["ruleset"], "players": manifest["players"], "policies": policies, "bytes": files}
        as_json({**data, "left_out": manifest["left_out"]})
        return
    for path, size in files.items():
        say(f"{path}: {size:,} bytes")
