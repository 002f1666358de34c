"""Standalone WebAssembly modules: a ruleset as a module, and a manifest of its memory layout and names.

``docs/wasm.md`` describes the interface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from interpreter.base.plain_data import Json
from interpreter.compiler.codegen.memory import STATE
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import NO_INDEX, NO_NUMBER, WORD, Shapes, signed
from interpreter.compiler.codegen.sights import OPEN
from interpreter.compiler.ir.ops import CellGroup
from interpreter.compiler.wasm.codec import Codec
from interpreter.compiler.wasm.driver import BOT_STREAM
from interpreter.compiler.wasm.standalone import EXPORTS, standalone_module
from interpreter.engine.game import Ruleset
from interpreter.engine.setup import Table
from interpreter.kernel.chance import name_hash
from interpreter.kernel.state import Value
from interpreter.language.model import Phrase
from interpreter.language.types import LINK, PLACE, SEAT, PieceType, RecordType, RoomType, Type, name_of
from interpreter.play.table_module import module_builder

__all__ = ["Standalone", "standalone"]

FORMAT = 1
"""Version of the manifest and the interface."""


class Standalone(Struct, frozen=True):
    """The text of a module, its manifest as JSON data, and its builder."""

    text: str
    manifest: dict[str, Value]
    builder: ModuleBuilder


def standalone(ruleset: Ruleset, people: int, settings: Mapping[str, Value], policies: Sequence[str]) -> Standalone:
    """Build the module of a ruleset for a number of players and settings, with policies as its bots."""
    table = ruleset.table(people, dict(settings))
    builder, bots = module_builder(ruleset, table, policies)
    initial = Codec(builder).encode(table.first, 0)
    builder.finish()
    asks = builder.decisions.asks
    by_chance: list[list[str]] = []
    for bot in bots:
        unsupported = [index for index, function in bot.items() if function in builder.left_out]
        bot.update({index: builder.policies.random(index) for index in unsupported})
        by_chance.append(sorted({asks[index][1].ask.name for index in unsupported}))
    streams = [signed(name_hash(BOT_STREAM.format(seat))) for seat in range(len(builder.constants.seats))]
    text, numbers = standalone_module(builder, initial, bots)
    described: list[dict[str, Json]] = [
        {"name": name, "number": number, "by_chance": unsupported}
        for number, (name, unsupported) in enumerate(zip(policies, by_chance, strict=True))
    ]
    manifest = _Manifest(ruleset, table, builder, numbers)
    return Standalone(text, manifest.whole(settings, described, streams), builder)


class _Manifest:
    def __init__(self, ruleset: Ruleset, table: Table, builder: ModuleBuilder, numbers: Mapping[str, int]) -> None:
        self.ruleset, self.model, self.table, self.builder = ruleset, ruleset.model, table, builder
        self.numbers = numbers
        self.names = table.names
        self.shapes: Shapes = builder.shapes

    def whole(
        self, settings: Mapping[str, Value], policies: list[dict[str, Json]], streams: list[int]
    ) -> dict[str, Value]:
        builder, model, numbers = self.builder, self.model, self.numbers
        return {
            "format": FORMAT,
            "ruleset": self.ruleset.id,
            "title": self.ruleset.composition.title,
            "digest": self.ruleset.digest,
            "players": self.table.seats,
            "settings": {name: self._setting(name, value) for name, value in settings.items()},
            "memory": {
                "state": STATE,
                "cells": builder.memory.groups[next(iter(builder.memory.groups))].address,
                "frames": builder.memory.frames,
                "options": numbers["options"],
                "view": numbers["buffer"],
                "mask": numbers["mask"],
                "word": WORD,
                "undo": numbers["undo_slots"],
            },
            "none": {"number": NO_NUMBER, "index": NO_INDEX},
            "names": self._names(),
            "cells": [self._cells(name, group) for name, group in builder.memory.groups.items()],
            "decisions": [self._decision(index) for index in builder.decisions.asks],
            "events": [
                {"name": each.name, "fields": {k: str(v) for k, v in each.fields.items()}, "says": _said(each.says)}
                for each in model.events.values()
            ],
            "says": {name: _said(phrases) for name, phrases in model.says.items()},
            "policies": policies,
            "seats": self._seats(streams),
            "ranking": model.key_names,
            "left_out": dict(builder.left_out),
            "exports": {name: {"type": type_, "about": about} for name, (type_, about) in EXPORTS.items()},
        }

    def _setting(self, name: str, value: Value) -> Value:
        doubt = self.model.interpretations.get(name)
        if doubt is not None:
            return list(doubt.readings)[value]
        return self.names.public(value, self.model.settings[name].type)

    def _names(self) -> dict[str, Json]:
        """Return the names of all numbered values, by form."""
        model = self.model
        graph = model.graph
        return {
            "kind": {kind: list(model.members(kind)) for kind in (*model.kinds, "phase", "role")},
            "card": [self.names.card(card) for card in range(len(model.cards))],
            "card_kind": [row.kind for row in model.cards],
            "node": [row.name for row in graph.nodes] if graph else [],
            "place": [self.names.public(place, PLACE) for place in model.values(PLACE)],
            "link": [self.names.public(link, LINK) for link in model.values(LINK)],
            "piece": [self.names.public(piece, PieceType()) for piece in self.shapes.values(PieceType())],
            "text": list(self.shapes.texts),
        }

    def _seats(self, streams: list[int]) -> list[dict[str, Json]]:
        counts = self.builder.constants.statics["seat.counts"]
        return [
            {
                "seat": seat,
                "name": self.names.text(seat, SEAT),
                "counts": bool(counts[seat]),
                "stream": str(streams[seat]),
            }
            for seat in self.builder.constants.seats
        ]

    # --- shapes

    def _shape(self, type_: Type) -> dict[str, Json]:
        """Describe the memory layout of a type."""
        shapes = self.shapes
        shape: dict[str, Json] = {"form": type_.word, "words": shapes.words(type_)}
        if name := name_of(type_):
            shape["name"] = name
        if type_.optional:
            shape["optional"] = True
        if shapes.is_listed(type_):
            shape["most"] = shapes.capacity(type_)
            shape["of"] = self._shape(shapes.item(type_))
        elif isinstance(type_, RecordType | RoomType):
            names = ["kinds", "capacity"] if isinstance(type_, RoomType) else list(self.model.records[type_.name])
            pairs = zip(names, shapes.fields(type_), strict=True)
            shape["fields"] = [{"field": name, **self._shape(field)} for name, field in pairs]
        return shape

    def _cells(self, name: str, group: CellGroup) -> dict[str, Json]:
        declared = self.model.groups.get(name)
        return {
            "name": name,
            "owner": declared.owner.word if declared and declared.owner else "card" if name == "location" else "",
            "count": group.count,
            "first": group.base,
            "address": group.address,
            "stride": group.stride,
            "type": str(declared.type) if declared is not None else "",
            "shape": self._shape(group.type) if declared is not None else None,
            "seen": declared.seen if declared is not None else "everyone" if name in OPEN else "no one",
        }

    def _decision(self, index: int) -> dict[str, Json]:
        decisions = self.builder.decisions
        stretch, end = decisions.asks[index]
        ask = end.ask
        alternatives: list[Json] = []
        for number, option in enumerate(ask.options):
            choices: list[Json] = [
                {"name": choice.name, "offset": offset, "shape": self._shape(choice.type)}
                for choice, (offset, _) in decisions.placed(option)
            ]
            says = _said(self.model.says.get(f"{ask.name}.{option.name}", {}))
            alternatives.append({"number": number, "name": option.name, "choices": choices, "says": says})
        return {
            "number": index,
            "name": ask.name,
            "rule": self.builder.program.reach.procedures[stretch.procedure].rule,
            "stride": decisions.stride(index) * WORD,
            "alternatives": alternatives,
        }


def _said(phrases: Mapping[str, Phrase]) -> dict[str, str]:
    """Return templates by language, with placeholders as the rules write them: `{price}`."""
    return {
        language: "".join(
            part if isinstance(part, str) else f"{{{' '.join(part.span.text.split())}}}" for part in phrase.parts
        )
        for language, phrase in phrases.items()
    }
