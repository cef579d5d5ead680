"""The communicator groups of a Chakra job: a JSON file such as {"1": [0, 1], "2": [2, 3]}, named by nodes' pg_name."""

from collections.abc import Sequence
from pathlib import Path

from netsim.errors import InputError, nearest
from netsim.traces.fields import Fields, parse_object
from netsim.traces.limits import MAX_NAME, MAX_PARTS, MAX_RANKS
from netsim.traces.lines import content
from netsim.traces.recognise import recogniser
from netsim.traces.trace import WORLD, Group

MAX_FILE = 1 << 26  # 64 MiB: groups of a hundred thousand ranks take a few
EXAMPLE = '{"1": [0, 1, 2, 3], "2": [4, 5, 6, 7]}'
is_group_file = recogniser(r'\s*\{\s*"[^"\n]{0,200}"\s*:\s*\[\s*\d+\s*[,\]]')


class Groups:
    """The groups by pg_name; `made` are those that nodes use, `ranks` is how many ranks there are at least."""

    def __init__(self, paths: Sequence[Path], ranks: int) -> None:
        self.listed: dict[str, tuple[int, ...]] = {}
        self.given = bool(paths)
        for path in paths:
            self._read(path)
        self.ranks = max([ranks, *(max(each) + 1 for each in self.listed.values())])
        self.world = Group(WORLD, tuple(range(self.ranks)))
        self.made: dict[str, Group] = {}
        self._by_pg: dict[tuple[str, str], Group] = {}
        self.notes: list[str] = []

    def _read(self, path: Path) -> None:
        text = content(path, MAX_FILE, "is it a file of groups?").decode("utf-8-sig", errors="replace")
        fields = Fields(parse_object(text, str(path)), str(path))
        for name, listed in fields.values.items():
            self.listed[name[:MAX_NAME]] = fields.ranks(listed, f"group {name[:40]!r}", MAX_RANKS)
        if sum(map(len, self.listed.values())) > MAX_PARTS:
            raise fields.wrong(f"the groups name more than {MAX_PARTS:,} ranks in all", "cut the job into parts")

    def of(self, pg_name: str, name: str, where: str) -> Group:
        """The group of a node by its pg_name; `name` is what a trace calls it, if the node says so."""
        if not pg_name:
            return self.world
        known = self._by_pg.get((pg_name, name))
        if known is None:
            known = self._by_pg[pg_name, name] = self._make(pg_name, name, where)
        return known

    def _make(self, pg_name: str, name: str, where: str) -> Group:
        if not self.given:
            taken = f"pg_name {pg_name[:40]!r} is taken for all {self.ranks} ranks"
            self.notes.append(f"no file of groups is named: {taken}")
            return self.world
        if pg_name not in self.listed:
            hint = f"{nearest(pg_name[:MAX_NAME], list(self.listed)[:100])}; a file of groups is like {EXAMPLE}"
            raise InputError(f"there is no group {pg_name[:40]!r}", where=where, hint=hint)
        name = name or pg_name
        while name == WORLD or (name in self.made and self.made[name].ranks != self.listed[pg_name]):
            name += "_"
        return self.made.setdefault(name, Group(name, self.listed[pg_name]))
