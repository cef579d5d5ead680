"""GOAL schedules (spcl/LogGOPSim, ATLAHS), text or binary: what each rank sends, receives and computes in turn."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from netsim.errors import InputError, nearest
from netsim.traces.goal.binary import is_binary, read_binary
from netsim.traces.goal.rank import Goal, trace_of
from netsim.traces.graphs.graph import ANY
from netsim.traces.limits import MAX_LINES
from netsim.traces.lines import head, pieces
from netsim.traces.trace import Trace

MAX_LINE = 1 << 16
EXAMPLE = "write for example  l1: send 4096b to 8 tag 0  or  l2 requires l1"
WORDS = ("send", "recv", "calc")
_START = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*num_ranks\b", re.DOTALL)
_TOKEN = re.compile(r"[{}:]|[^\s{}:]+")
_ACTION = re.compile(
    r"\s*(?:([^\s{}:]+) ?: ?)?(?:(send|recv) ([0-9]{1,19})b? (to|from) ([0-9]{1,9})(?: tag ([0-9]{1,9}))?"
    r"(?: cpu [0-9]{1,9})?(?: nic [0-9]{1,9})?|calc ([0-9]{1,19})b?(?: cpu [0-9]{1,9})?)\s*"
)
_WAITING = re.compile(r"\s*([^\s{}:]+) (i?)requires ([^\s{}:]+)\s*")
_GOES_ON = re.compile(r"\s*(?:tag|cpu|nic|:)")  # what may belong to the statement on the line before
_SIZE = re.compile(r"([0-9]{1,19})b?")


def recognises(start: str) -> bool:
    """Tell whether a file that starts so is a GOAL schedule in text."""
    return _START.match(start.lstrip("\ufeff")) is not None


def recognises_bytes(start: bytes) -> bool:
    """Tell whether a file that starts so is a binary GOAL schedule."""
    return is_binary(start)


def read(paths: Sequence[Path]) -> Trace:
    """Read one schedule, text or binary; collectives are not in it any more, only sends and receives."""
    if len(paths) > 1:
        what = f"a GOAL schedule is one file, not {len(paths)}"
        raise InputError(what, where=str(paths[1]), mend="give one file; it holds all ranks")
    goal = read_binary(paths[0]) if is_binary(head(paths[0], 64)) else _Text(paths[0]).read()
    return trace_of(goal)


class _Text:
    """Reads a schedule in text, word by word."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 1
        self.lines = self._lines()
        self.coming: deque[tuple[int, str]] = deque()  # lines that were looked at
        self.words: list[str] = []  # left on this line, the next one last

    def wrong(self, what: str, mend: str) -> NoReturn:
        raise InputError(what, where=f"{self.path}:{self.line}", mend=mend)

    def read(self) -> Goal:
        if self._next() != "num_ranks":
            self.wrong("the file does not start with num_ranks", "start it with num_ranks 16")
        goal = Goal(self.path, self._whole("num_ranks", self._next()))
        while (word := self._peek()) is not None:
            if self._next() != "rank":
                self.wrong(f"{word[:60]!r} stands where a rank starts", "write rank 0 { ... }")
            rank = self._whole("a rank", self._next())
            goal.begin(rank, self.line)
            self._expect("{")
            while self._quick(goal) or self._peek() != "}":
                if self.words or self._peek() is None:
                    self._statement(goal)
            self._next()
            goal.end(rank)
        goal.check()
        return goal

    # --- words ------------------------------------------------------------------------------------------------------

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Lines that hold something, without their comments."""
        in_comment = False
        for line, raw in pieces(self.path, MAX_LINE):
            if line > MAX_LINES or (len(raw) == MAX_LINE and not raw.endswith(b"\n")):
                self.line = line
                self.wrong(f"is longer than {MAX_LINE:,} bytes a line and {MAX_LINES:,} lines", "break long lines")
            text = raw.decode("utf-8-sig" if line == 1 else "utf-8", errors="replace")
            if in_comment or "/" in text:
                text, in_comment = _without_comments(text, in_comment)
            if not text.isspace():
                yield line, text

    def _ahead(self, count: int) -> bool:
        """Look so many lines ahead, if there are as many."""
        while len(self.coming) < count:
            line = next(self.lines, None)
            if line is None:
                return False
            self.coming.append(line)
        return True

    def _peek(self) -> str | None:
        while not self.words:
            if not self._ahead(1):
                return None
            self.line, text = self.coming.popleft()
            self.words = _TOKEN.findall(text)[::-1]
        return self.words[-1]

    def _next(self) -> str:
        word = self._peek()
        if word is None:
            self.wrong("the file ends within a rank or a statement", "was it cut? copy it again")
        return self.words.pop()

    def _expect(self, word: str) -> None:
        found = self._next()
        if found != word:
            self.wrong(f"{found[:60]!r} stands where {word!r} is needed", EXAMPLE)

    def _whole(self, name: str, text: str, *, least: int = 0) -> int:
        negative = text.startswith("-")
        if not (text.removeprefix("-").isdecimal() and text.isascii() and len(text) <= 20):
            self.wrong(f"{name} must be a whole number, not {text[:60]!r}", EXAMPLE)
        value = -int(text[1:]) if negative else int(text)
        if value < least:
            self.wrong(f"{name} is {value}", EXAMPLE)
        return value

    def _size(self, text: str) -> int:
        match = _SIZE.fullmatch(text)
        if not match:
            self.wrong(f"a size must be a number of bytes like 4096b, not {text[:60]!r}", EXAMPLE)
        return int(match[1])

    # --- statements -------------------------------------------------------------------------------------------------

    def _quick(self, goal: Goal) -> bool:
        """Take in a line that is one whole statement, as nearly all are, at once; False where it has to be read."""
        if self.words or not self._ahead(2) or _GOES_ON.match(self.coming[1][1]):
            return False
        line, text = self.coming[0]
        if action := _ACTION.fullmatch(text):
            label, word, size, way, peer, tag, units = action.groups()
            if units is not None:
                goal.add("calc", int(units), line, label=label or "")
            elif (word == "send") == (way == "to"):
                goal.add(word, int(size), line, label=label or "", peer=int(peer), tag=int(tag or 0))
            else:
                return False
        elif (waiting := _WAITING.fullmatch(text)) and waiting[1] not in WORDS:
            goal.wait(waiting[1], waiting[3], line, started=bool(waiting[2]))
        else:
            return False
        self.line = line
        self.coming.popleft()
        return True

    def _statement(self, goal: Goal) -> None:
        word, line = self._next(), self.line
        if word in WORDS and self._peek() != ":":
            self._action(goal, word, "", line)
            return
        following = self._next()
        if following == ":":
            self._action(goal, self._next(), word, line)
        elif following in ("requires", "irequires"):
            goal.wait(word, self._next(), self.line, started=following == "irequires")
        else:
            self.wrong(f"{word[:60]!r} is no statement", nearest(word[:60], WORDS) + f"; {EXAMPLE}")

    def _action(self, goal: Goal, word: str, label: str, line: int) -> None:
        if word not in WORDS:
            self.wrong(f"{word[:60]!r} is nothing a rank can do", nearest(word[:60], WORDS))
        size = self._size(self._next())
        peer = ANY
        if word != "calc":
            self._expect("to" if word == "send" else "from")
            peer = self._whole("a rank", self._next(), least=ANY if word == "recv" else 0)
        options = self._options(word)
        goal.add(word, size, line, label=label, peer=peer, tag=options.get("tag", 0))

    def _options(self, word: str) -> dict[str, int]:
        """Read `tag t`, `cpu c` and `nic k`, if what follows is not a statement about labels of that name."""
        found: dict[str, int] = {}
        known = ("cpu",) if word == "calc" else ("tag", "cpu", "nic")
        while (key := self._peek()) in known:
            assert key is not None
            self._next()
            if key in found:
                self.wrong(f"{key} stands here twice", "keep one of them")
            least = ANY if key == "tag" and word == "recv" else 0
            found[key] = self._whole(key, self._next(), least=least)
        return found


def _without_comments(text: str, inside: bool) -> tuple[str, bool]:
    """A line without its comments, and whether one of the long ones goes on behind it."""
    kept = ""
    while text:
        if inside:
            _, end, text = text.partition("*/")
            inside = not end
            continue
        match = re.search(r"//|/\*", text)
        if not match:
            return kept + text, False
        kept += text[: match.start()] + " "
        if match[0] == "//":
            return kept, False
        text, inside = text[match.end() :], True
    return kept, inside
