"""htsim's `.topo` files: a header, then one block of keys for each tier, read as the fields of HtsimTree.

The layout is that of htsim's FatTreeTopologyCfg: keys in any case, speeds in Gb/s, latencies in ns, queues in bytes.
"""

from __future__ import annotations

import re
from typing import Any

from netsim.errors import InputError, nearest

MOST = 10**12  # of any number in the file
TIERS = ("tor", "agg", "core")
HEADER = {"nodes": "Nodes", "tiers": "Tiers", "podsize": "Podsize"}
KEYS = {  # field of Tier, unit, the word as the files write it
    "downlink_speed_gbps": ("downlink_speed", "Gb/s", "Downlink_speed_Gbps"),
    "downlink_latency_ns": ("downlink_latency", "ns", "Downlink_Latency_ns"),
    "radix_down": ("radix_down", "", "Radix_Down"),
    "radix_up": ("radix_up", "", "Radix_Up"),
    "switch_latency_ns": ("switch_latency", "ns", "Switch_Latency_ns"),
    "oversubscribed": ("oversubscribed", "", "Oversubscribed"),
    "bundle": ("bundle", "", "Bundle"),
    "queue_up": ("queue_up", "B", "Queue_Up"),
    "queue_down": ("queue_down", "B", "Queue_Down"),
}
NEEDED = ("downlink_speed_gbps", "downlink_latency_ns", "radix_down")

Lines = dict[tuple[str, ...], int]

_START = re.compile(r"\s*(?:#[^\n]*\n\s*)*(?:nodes|tiers|podsize)[ \t]+\d", re.IGNORECASE)


def recognises(text: str) -> bool:
    """Tell whether a text that starts so is a `.topo` file."""
    return _START.match(text.lstrip("\ufeff")) is not None


def read_topo(text: str, name: str) -> tuple[dict[str, Any], Lines]:
    """Read the fields of HtsimTree, values with units as texts, and the line on which each stands.

    `name` stands for the file in messages. Raises InputError.
    """
    return _Reader(name).read(text)


class _Reader:
    """Reads one text line by line."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[str, Any] = {"kind": "htsim"}
        self.lines: Lines = {}
        self.tier = ""

    def read(self, text: str) -> tuple[dict[str, Any], Lines]:
        """Take every line, then look whether something is missing."""
        for line, content in enumerate(text.splitlines(), 1):
            words = content.split()
            if words and not words[0].startswith("#"):
                self._take(line, words)
        self._check()
        return self.values, self.lines

    def _take(self, line: int, words: list[str]) -> None:
        key = words[0].lower()
        known = [*HEADER.values(), "Tier", *(word for _, _, word in KEYS.values())]
        if key not in (*HEADER, "tier", *KEYS):
            raise self._wrong(line, f"unknown key {words[0][:60]!r}", nearest(words[0][:60], known))
        if len(words) != 2 or not re.fullmatch(r"\d{1,13}", words[1]) or int(words[1]) > MOST:
            found = " ".join(words[1:])[:60]
            raise self._wrong(line, f"{words[0]} needs one whole number, not {found!r}", f"write {words[0]} 1")
        number = int(words[1])
        if key in HEADER:
            self._put(line, (key,), number, words[0])
        elif key == "tier":
            self._begin(line, number)
        elif not self.tier:
            raise self._wrong(line, f"{words[0]} belongs to no tier", "write Tier 0, 1 or 2 above it")
        else:
            field, unit, _ = KEYS[key]
            self._put(line, (self.tier, field), f"{number}{unit}" if unit else number, words[0])

    def _begin(self, line: int, number: int) -> None:
        if number >= len(TIERS):
            raise self._wrong(line, f"there is no tier {number}", "tiers are 0 (ToR), 1 (aggregation) and 2 (core)")
        if (TIERS[number],) in self.lines:
            raise self._wrong(line, f"tier {number} is described twice", "keep one of the two blocks")
        self.tier = TIERS[number]
        self.values[self.tier] = {}
        self.lines[(self.tier,)] = line

    def _put(self, line: int, keys: tuple[str, ...], value: int | str, word: str) -> None:
        if keys in self.lines:
            what = f"{word} stands here again, after line {self.lines[keys]}"
            raise self._wrong(line, what, "keep one of them")
        self.lines[keys] = line
        table = self.values if len(keys) == 1 else self.values[keys[0]]
        table[keys[-1]] = value

    def _check(self) -> None:
        for key, word in HEADER.items():
            if key not in self.values:
                raise self._wrong(0, f"no {word}", f"add a line like {word} {2 if key == 'tiers' else 16}")
        tiers = self.values.pop("tiers")
        if tiers not in (2, 3):
            raise self._wrong(self.lines["tiers",], f"Tiers {tiers}", "trees have 2 or 3")
        for number, tier in enumerate(TIERS):
            if (tier in self.values) != (number < tiers):
                there = "is described" if tier in self.values else "is missing"
                what = f"tier {number} {there}, but the header says Tiers {tiers}"
                raise self._wrong(self.lines.get((tier,), self.lines["tiers",]), what, "let them agree")
        for number, tier in enumerate(TIERS[:tiers]):
            needed = NEEDED if number == tiers - 1 else (*NEEDED, "radix_up")
            for key in needed:
                if KEYS[key][0] not in self.values[tier]:
                    raise self._wrong(self.lines[tier,], f"tier {number} has no {KEYS[key][2]}", "add it below")
            self.values[tier].setdefault("oversubscribed", 1)  # as htsim takes it; the top tier has nothing above it
        self.values[TIERS[tiers - 1]].pop("oversubscribed")

    def _wrong(self, line: int, what: str, hint: str) -> InputError:
        return InputError(what, where=f"{self.name}, line {line}" if line else self.name, hint=hint)
