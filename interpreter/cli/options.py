"""Options shared by several commands, and the rulesets, games and bots that they stand for."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from errno import EACCES, ENOENT
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from msgspec import Struct

from interpreter.base.diagnostics import RulesetError
from interpreter.base.paths import suffix_of as suffix_in
from interpreter.cli.failures import refused_for, wrong_use, wrong_value
from interpreter.cli.output import notice

if TYPE_CHECKING:
    from interpreter.base.plain_data import Json
    from interpreter.bots.player import Bot
    from interpreter.engine.game import Game, Ruleset
    from interpreter.play.game_records import SavedGame
    from interpreter.simulate.workers import Help

__all__ = [
    "Number",
    "Request",
    "Seconds",
    "Setup",
    "about_missing",
    "all_option",
    "bots_for",
    "bots_option",
    "can_be_written",
    "check_effect",
    "file_option",
    "folder_option",
    "game_argument",
    "games_option",
    "jobs_option",
    "language_for",
    "language_option",
    "loaded",
    "log_argument",
    "new_game_options",
    "number_option",
    "output_option",
    "overlays_option",
    "players_for",
    "players_option",
    "read_log",
    "requested",
    "ruleset_argument",
    "seconds_option",
    "seed_for",
    "seed_option",
    "settings_for",
    "settings_given",
    "settings_option",
    "several_option",
    "several_players_option",
    "suffix_of",
    "tell_plain",
]

MOST_GAMES, MOST_SEEDS = 10**9, 10**18
"""Largest number of games and largest seed: larger ones overflow some machines or the columns of tables."""
LANGUAGE = "REGELWERK_LANGUAGE"
"""Environment variable with the preferred output language; ignored for rulesets that lack it."""
ALONE = 1.0
"""Seconds of play in this process before worker processes are started, unless ``--jobs`` is given."""
YAML = (".yaml", ".yml")

Function = TypeVar("Function", bound=Callable[..., object])


_RULESETS, _SAVED = "`regelwerk list` lists the rulesets", "`regelwerk run RULESET --log FILE` saves a game"
_MISSING = {
    "RULESET": _RULESETS,
    "RULESET|LOG[@N]": f"{_RULESETS}; {_SAVED}",
    "LOG": _SAVED,
    "POLICY": "`regelwerk show RULESET` lists policies",
    "EXPR": "Type an expression, such as `round` or `count(seats)`",
    "NAME|NUMBER|MOVE": "Type a name of the rules, a number that `regelwerk replay --numbers` shows, or a move",
    "FILE.wasm": "Type the name of the file to write",
    "A B": _RULESETS,
}
"""What may be given for an argument, by its name in the usage line."""


def about_missing(parameter: click.Parameter | None) -> str:
    """Return what may be given for a missing argument or option."""
    if isinstance(parameter, click.Option):
        return parameter.help or ""
    return _MISSING.get(parameter.metavar or str(parameter.name).upper(), "") if parameter is not None else ""


class Number(click.IntRange):
    """A whole number. A refusal says what is wanted."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        with suppress(click.BadParameter):
            return super().convert(value, param, ctx)
        names = param.opts if isinstance(param, click.Option) else ()
        meant = [long for long in names for short in names if long[1:] == f"{short}{value}"]  # `-players`
        near = f"; did you mean `{meant[0]}`?" if meant else ""
        self.fail(f"got `{value}`, want a number{_bounds(self)}{near}", param, ctx)


class Seconds(click.FloatRange):
    """A duration. A refusal says what is wanted."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        with suppress(click.BadParameter):
            if isfinite(number := super().convert(value, param, ctx)):
                return number
        self.fail(f"got `{value}`, want a number of seconds{_bounds(self)}", param, ctx)


def _bounds(range: click.IntRange | click.FloatRange) -> str:
    low = "" if range.min is None else f" above {range.min}" if range.min_open else f" from {range.min}"
    return low if range.max is None else f"{low} to {range.max}"


ruleset_argument = click.argument("ruleset", metavar="RULESET")
game_argument = click.argument("ruleset", metavar="RULESET|LOG[@N]")


class _Log(click.Path):
    """The path of a saved game, or `-` for stdin."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = str(super().convert(value, param, ctx))
        if path != "-" and not Path(path).exists():
            raise _no_log(path)
        if path.endswith(YAML):
            raise _no_log(path, "not a saved game")
        return path


log_argument = click.argument("log", type=_Log(dir_okay=False, allow_dash=True))


def _no_log(path: str, why: str = "no such file") -> click.UsageError:
    return click.UsageError(f"{path}: {why}; {_SAVED}")


def number_option(
    *names: str, about: str, least: int, most: int | None = None, show: bool = False, **how: Any
) -> Callable[[Function], Function]:
    """Add an option that takes a whole number. ``show``: its description ends with the default."""
    return click.option(*names, type=Number(least, most), show_default=show, metavar="N", help=about, **how)


def file_option(*names: str, about: str, multiple: bool = False, **kind: bool) -> Callable[[Function], Function]:
    """Add an option that takes the path of a file; ``kind`` says what :class:`click.Path` allows."""
    form = click.Path(path_type=Path, dir_okay=False, **kind)
    return click.option(*names, type=form, multiple=multiple, metavar="FILE", help=about)


def folder_option(*names: str, about: str) -> Callable[[Function], Function]:
    kind = click.Path(path_type=Path, file_okay=False)
    return click.option(*names, type=kind, metavar="FOLDER", help=about)


def several_option(
    *names: str, metavar: str, about: str, default: str = "", required: bool = False
) -> Callable[[Function], Function]:
    """Add an option that may be given several times."""
    about = f"{about} Repeatable.{f'  [default: {default}]' if default else ''}"
    return click.option(*names, multiple=True, required=required, metavar=metavar, help=about)


def overlays_option(function: Function) -> Function:
    """Add ``--with``, ``--without`` and ``--allow``, which :func:`requested` takes together."""
    about = "Allow combinations that no rulebook covers."
    allow = click.option("--allow", multiple=True, type=click.Choice(["undefined"]), help=about)
    without = several_option("--without", metavar="OVERLAY", about="Leave out an overlay that the ruleset lists.")
    about = "Add an overlay, by id or path; N is its number of seats."
    return several_option("--with", "overlays", metavar="OVERLAY[:N]", about=about)(without(allow(function)))


def players_option(default: str = "smallest number that needs no extra overlay") -> Callable[[Function], Function]:
    return number_option("-p", "--players", about=f"Number of players.  [default: {default}]", least=1)


def several_players_option(default: str) -> Callable[[Function], Function]:
    """Add ``--players`` for commands that play with several numbers of players."""

    def numbers(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[int, ...]:
        for text in value:
            if not all(word.strip().isdecimal() and int(word) for word in text.split(",")):
                raise click.BadParameter(f"got `{text}`, want numbers from 1, separated by commas", ctx, param)
        return tuple(int(word) for text in value for word in text.split(","))

    about = f"Numbers of players, separated by commas.  [default: {default}]"
    names = ("-p", "--players", "numbers")
    return click.option(*names, multiple=True, callback=numbers, metavar="N[,N]...", help=about)


def games_option(
    default: int | None = None, about: str = "", least: int = 1, most: int = MOST_GAMES
) -> Callable[[Function], Function]:
    """Add ``--games``. ``about`` describes the default, if it is more than the number."""
    text = f"Number of games.  [default: {about or default}]"
    return number_option("-n", "--games", about=text, least=least, most=most, default=default)


def seconds_option(default: float | None, about: str, *, zero: bool = False) -> Callable[[Function], Function]:
    text = f"Duration in seconds.  [default: {about}]"
    kind = Seconds(min=0, min_open=not zero)
    return click.option("--time", "--seconds", "seconds", type=kind, default=default, metavar="SECONDS", help=text)


seed_option = number_option("--seed", about="Random seed.  [default: random, printed]", least=0, most=MOST_SEEDS)
settings_option = several_option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    about="Set a setting or interpretation; separate list items with commas.",
)


def new_game_options(function: Function) -> Function:
    """Add the options that say how a new game begins."""
    return overlays_option(players_option()(seed_option(settings_option(function))))


def bots_option(default: str = "sensible if available, else greedy, else random") -> Callable[[Function], Function]:
    about = (
        "Bots, separated by commas and dealt to the seats in turn: a,b at four seats is a, b, a, b. A bot is a policy "
        "such as sensible or greedy, random, rare, search:200 (playouts), search:2s (seconds), or a program: "
        f"cmd:./mybot.  [default: {default}]"
    )
    return click.option("--bots", metavar="NAMES", help=about)


jobs_option = number_option("-j", "--jobs", about="Number of processes.  [default: all cores]", least=1)
language_option = click.option(
    "--language",
    "--lang",
    default="en",
    envvar=LANGUAGE,
    show_default=True,
    metavar="LANGUAGE",
    help="Output language, if the ruleset supports it.",
)


all_option = click.option("--all", "every", is_flag=True, help="Without arguments: all, including the shipped ones.")


def output_option(*formats: str) -> Callable[[Function], Function]:
    """Add ``-o`` with the formats of the command; the first one is the default."""
    return click.option(
        "-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help="Output format."
    )


# --- all values as one


class Request(Struct, frozen=True):
    """What the shared options of a command ask for. Of the overlays, a minus marks one to leave out, a plus a
    combination to allow."""

    ruleset: str = ""
    overlays: tuple[str, ...] = ()
    players: int | None = None
    seed: int | None = None
    settings: tuple[str, ...] = ()
    bots: str | None = None
    jobs: int | None = None
    output: str = "text"

    def load(self, other: str = "") -> Ruleset:
        """Load the ruleset. ``other`` is the next argument, in case they are swapped."""
        return loaded(self.ruleset, self.overlays, other)

    def setup(self, ruleset: Ruleset | None = None) -> Setup:
        """Load the ruleset, unless it is given, and check that a game can begin so."""
        composed, players = players_for(ruleset or self.load(), self.players)
        seed = seed_for(self.seed)
        return Setup(composed, self.overlays, players, seed, settings_for(composed, players, self.settings))

    def kept_game(self) -> Game | None:
        """Return the game of ``LOG@N`` or ``LOG``; None for a ruleset."""
        path, at, number = self.ruleset.rpartition("@")
        if not at:
            path, number = self.ruleset, ""
        if path.endswith(YAML) or not Path(path).is_file():
            if path.endswith((".jsonl", ".json", ".log")):
                raise _no_log(path)
            return None
        if at and not number.isdigit():
            raise click.UsageError(f"got `{path}@{number}`, want the number of choices after the `@`")
        for name in self.of_a_game:
            raise click.UsageError(f"--{name} goes with a ruleset, not with a saved game")
        from interpreter.play.game_records import Difference, replay_game, ruleset_of

        saved = read_log(path)
        if number and int(number) > len(saved.choices):
            raise click.UsageError(f"{path} has {len(saved.choices)} choices, not {number}")
        with refused_for(Difference, about=f"{path}: "):
            return replay_game(ruleset_of(saved), saved, int(number) if number else None)

    @property
    def of_a_game(self) -> list[str]:
        """The given options that say how a new game begins."""
        given = {"with": self.overlays, "players": self.players, "seed": self.seed, "set": self.settings}
        return [name for name, value in given.items() if value not in (None, ())]

    @property
    def place(self) -> str:
        """The name of the ruleset for other processes."""
        return str(Path(self.ruleset).resolve()) if Path(self.ruleset).is_file() else self.ruleset

    def processes(self, games: int) -> int:
        from interpreter.base.facilities import cores

        return min(self.jobs or cores(), max(1, games))

    def crew(self, games: int) -> Help:
        """Return the worker processes, which shorter runs do not need."""
        from interpreter.simulate.workers import processes

        number = self.processes(games)
        return processes(number) if number > 1 else None, ALONE if self.jobs is None else 0.0


class Setup(NamedTuple):
    """How a game begins: a ruleset composed for a number of players, the requested overlays, and checked settings."""

    ruleset: Ruleset
    overlays: tuple[str, ...]
    players: int
    seed: int
    settings: dict[str, Json]

    def new_game(self) -> Game:
        return self.ruleset.new_game(self.players, self.seed, self.settings)

    def bots(self, spec: str | None, persons: Mapping[int, Bot] | None = None) -> list[Bot]:
        return bots_for(self.ruleset, self.players, spec, persons)

    def as_data(self) -> dict[str, Json]:
        about = {"ruleset": self.ruleset.id, "overlays": list(self.overlays)}
        return {**about, "players": self.players, "seed": self.seed, "settings": self.settings}


def requested(*formats: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Add ``-o`` with these formats, and pass the values of the shared options as one object. It stands below them."""

    def decorated(function: Callable[..., object]) -> Callable[..., object]:
        @wraps(function)
        def command(without: Sequence[str] = (), allow: Sequence[str] = (), **values: Any) -> object:
            shared = {name: values.pop(name) for name in Request.__struct_fields__ if name in values}
            parted = [name.partition(":") for name in shared.get("overlays", ())]
            for name, colon, number in parted:
                if colon and not number.isdecimal():
                    message = f"got `{name}:{number}`, want the number of its seats behind the colon"
                    raise click.BadParameter(message, param_hint="--with")
            if seats := [f"{name}:={number}" for name, colon, number in parted if colon]:
                if "settings" not in shared:
                    raise click.BadParameter("a number of seats goes with a game only", param_hint="--with")
                shared["settings"] = (*seats, *shared["settings"])
            signed = (*(f"-{name}" for name in without), *(f"+{name}" for name in allow))
            shared["overlays"] = (*(name for name, _, _ in parted), *signed)
            return function(Request(**shared), **values)

        return output_option(*formats)(command) if formats else command

    return decorated


# --- single values


def language_for(ruleset: Ruleset, language: str) -> str:
    """Return the output language, which must occur in the texts of the ruleset."""
    from interpreter.engine.views import languages_of

    known = languages_of(ruleset.model)
    if language not in known and language == os.environ.get(LANGUAGE):
        return "en"  # the environment variable states a preference only
    if language not in known:
        message = f"`{ruleset.id}` has no texts in `{language}`; it has {', '.join(f'`{name}`' for name in known)}"
        raise click.BadParameter(message, param_hint="--language")
    return language


def loaded(name: str, overlays: Sequence[str] = (), other: str = "") -> Ruleset:
    """Load the ruleset of an id or path. ``other`` is the next argument, in case they are swapped."""
    from interpreter.loading.load import load

    try:
        return load(name, overlays)
    except RulesetError:
        if not _is_loadable(other) or _is_loadable(name):
            raise
        command = click.get_current_context().command_path
        message = f"the ruleset or saved game comes first: `{command} {shlex.join((other, name))}`"
        raise click.UsageError(message) from None


def _is_loadable(name: str) -> bool:
    """Return whether a text is a saved game, or the id or path of a file of rulesets."""
    from interpreter.loading.load import find

    try:
        return bool(name) and (Path(re.sub(r"@[0-9]+$", "", name)).is_file() or find(name)[1] is not None)
    except (OSError, ValueError):  # no path
        return False


def tell_plain(ruleset: Ruleset, players: int = 0, settings: Mapping[str, object] | None = None) -> None:
    """At the end of the command, say on stderr why the plain form has played, if a module could not. With a number of
    players, say it also if other processes have played."""

    def tell() -> None:
        reasons = ruleset.reasons_for_plain
        if players and not reasons:
            reasons = ruleset.table(players, ruleset.settings(settings or {})).runner.missing()
        if reasons:
            notice(f"{ruleset.id}: the slower plain form has played: {'; '.join(reasons)}")

    click.get_current_context().call_on_close(tell)


def seed_for(seed: int | None) -> int:
    """Return the given seed, or a random one that is short enough to type."""
    if seed is not None:
        return seed
    from secrets import randbelow

    return randbelow(1_000_000)


def players_for(ruleset: Ruleset, players: int | None) -> tuple[Ruleset, int]:
    """Return the ruleset as composed for the number of players, and the number. Exit if it is not allowed."""
    number = ruleset.players.usual if players is None else players
    with refused_for(ValueError):
        ruleset.check_players(number)
    return ruleset.for_players(number), number


def settings_for(ruleset: Ruleset, players: int, assignments: Sequence[str]) -> dict[str, Json]:
    """Parse ``key=value`` settings and check that a game can be created with them, and that they have an effect."""
    settings = settings_given(ruleset, assignments)
    if settings:
        check_effect(settings, ruleset)
        with wrong_value("--set"):
            ruleset.new_game(players, settings=settings)
    return settings


def check_effect(settings: Iterable[str], *rulesets: Ruleset) -> None:
    """Check that some ruleset reads each of its settings: later files may have replaced the rules that did."""
    from interpreter.loading.unused import settings_read

    for name in settings:
        having = [ruleset for ruleset in rulesets if ruleset.has_setting(name)]
        if having and not any(name in settings_read(each.model, each.program.reach) for each in having):
            raise click.BadParameter(f"`{name}` has no effect here: no rule reads it", param_hint="--set")


def settings_given(ruleset: Ruleset, assignments: Sequence[str]) -> dict[str, Json]:
    """Parse ``key=value`` settings without checking their values; ``overlay:=N`` sets its number of seats."""
    settings: dict[str, Json] = {}
    for text in assignments:
        key, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"got `{text}`, want KEY=VALUE", param_hint="--set")
        settings[_seats_of(ruleset, key[:-1]) if key[-1:] == ":" else key.strip()] = value.strip()
    return settings


def _seats_of(ruleset: Ruleset, overlay: str) -> str:
    """Return the setting for the number of seats of an overlay."""
    files = {document.id: document.path for document in ruleset.composition.documents}
    for role in ruleset.model.roles.values():
        is_path = role.file in files and Path(overlay).absolute() == files[role.file].absolute()
        if role.setting is not None and (is_path or overlay in (role.file, role.file.partition("/")[2])):
            return role.setting
    raise click.BadParameter(f"`{overlay}` has no number of seats to set", param_hint="--with")


def bots_for(ruleset: Ruleset, players: int, spec: str | None, persons: Mapping[int, Bot] | None = None) -> list[Bot]:
    from interpreter.bots.registry import bots_of, default_bots

    with wrong_value("--bots"):
        return bots_of(spec or default_bots(ruleset), ruleset, players, persons, commands=True)


def suffix_of(file: Path | str | None, *suffixes: str) -> str:
    """Return the suffix of a file, which must be one of these; the first one for stdout."""
    with wrong_use():
        return suffixes[0] if file is None or str(file) == "-" else suffix_in(file, *suffixes)


def can_be_written(path: Path) -> None:
    """Raise ``OSError`` if the file obviously cannot be written, before the work is done."""
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, "no such folder", str(path.parent))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), str(path))


def read_log(path: str) -> SavedGame:
    """Read the saved game of a file. Raises :class:`click.UsageError` if the file is none."""
    from interpreter.play.game_records import read_saved_game

    with wrong_use(f"{path}: ", f"; {_SAVED}"), click.open_file(path, encoding="utf-8") as file:
        try:
            text = file.read()
        except UnicodeDecodeError:
            raise ValueError("not a saved game: not a text file") from None
        return read_saved_game(text, Path(path) if path != "-" else None)
