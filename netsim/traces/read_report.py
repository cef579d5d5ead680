"""What a reader made of its files: how much it read, kept and skipped, whom it saw, and what it had to assume."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ReadReport:
    """The account of one read.

    `hosts` counts the machines that the files name (0: they name none). `lines` counts lines of text, or events where
    the format has events; `records` the calls or operations among them that were kept; `skipped` says why others were
    not, and how many; `cut` counts records that were not whole. `seen` lists the global ranks that report (None: the
    format speaks for all of them); `unplaced` counts members of groups of which nothing tells who they are, whose
    numbers come after those of all others. `tuning` is what the job's own library said it chose ("all_reduce ring
    simple": times). `findings` are disagreements and what is missing, each with file and line.
    """

    format: str = ""
    files: int = 0
    hosts: int = 0
    lines: int = 0
    records: int = 0
    cut: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    tuning: Mapping[str, int] = field(default_factory=dict)
    seen: tuple[int, ...] | None = None
    unplaced: int = 0
    assumed: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()

    def notes(self, first: str, cut: str) -> list[str]:
        """The account in sentences: what was read, what was skipped and why, how much was cut off, what is assumed."""
        skipped = [f"{count:,} skipped: {why}" for why, count in sorted(self.skipped.items())]
        return [first, *skipped, *([f"{self.cut:,} {cut}"] if self.cut else []), *self.assumed]

    def as_table(self, ranks: int) -> dict[str, Any]:
        """The account as plain values, for a job of so many ranks."""
        return {
            "format": self.format,
            "files": self.files,
            "hosts": self.hosts,
            "lines": self.lines,
            "records": self.records,
            "cut": self.cut,
            "skipped": dict(self.skipped),
            "tuning": dict(self.tuning),
            "ranks": ranks,
            "ranks_seen": ranks if self.seen is None else len(self.seen),
            "assumed": list(self.assumed),
            "findings": list(self.findings),
        }
