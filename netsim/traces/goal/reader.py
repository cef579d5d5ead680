"""GOAL schedules (spcl/LogGOPSim, ATLAHS), text or binary: what each rank sends, receives and computes in turn."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from netsim.errors import InputError, nearest
from netsim.traces.goal.binary import is_binary, read_binary
from netsim.traces.goal.rank import Goal
from netsim.traces.goal.trace_of import trace_of
from netsim.traces.graphs.graph import ANY
from netsim.traces.input_files import only_file
from netsim.traces.lines import blocks, head, is_whole
from netsim.traces.recognise import recogniser
from netsim.traces.trace import Trace

MAX_LINE = 1 << 16
MAX_LINES = 1 << 25
EXAMPLE = "write for example  l1: send 4096b to 8 tag 0  or  l2 requires l1"
WORDS = ("send", "recv", "calc")
_TOKEN = re.compile(r"[{}:]|[^\s{}:]+")
_SPACE, _LABEL = r"[^\S\n]*", r"([^\s{}:]+)"
_LINE = re.compile(  # a line that is one whole statement, as nearly all are, or any other
    rf"{_SPACE}(?:(?:{_LABEL} ?: ?)?(?:(?:(send)|recv) ([0-9]{{1,18}})b? (?(2)to|from) ([0-9]{{1,9}})"
    r"(?: tag ([0-9]{1,9}))?(?: cpu [0-9]{1,9})?(?: nic [0-9]{1,9})?|calc ([0-9]{1,18})b?(?: cpu [0-9]{1,9})?)"
    rf"|(?!(?:send|recv|calc) ){_LABEL} (i?)requires {_LABEL}){_SPACE}\n"
    r"(?!\s*(?:tag|cpu|nic|:))"  # what may belong to the statement on the line before
    r"|(.*)\n"
)
_COMMENT = re.compile(r"//[^\n]*|/\*(?s:.*?)(\*/|\Z)")  # a long one ends with nothing where the text does
_SIZE = re.compile(r"([0-9]{1,19})b?")
Row = tuple[str, ...]
recognises_bytes = is_binary
recognises = recogniser(r"(?s)(?:\s|//[^\n]*\n|/\*.*?\*/)*num_ranks\b")


def read(paths: Sequence[Path]) -> Trace:
    """Read one schedule, text or binary; collectives are not in it any more, only sends and receives."""
    path = only_file(paths, "a GOAL schedule", "holds all ranks")
    return trace_of(read_binary(path) if is_binary(head(path, 64)) else _Text(path).read())


class _Text:
    """Reads a schedule in text, word by word."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 1
        self.lines = self._lines()
        self.words: list[str] = []  # left on this line, the next one last
        self.row: Row | None = None  # this line as a statement, while none of its words is taken

    def wrong(self, what: str, hint: str) -> NoReturn:
        raise InputError(what, where=f"{self.path}:{self.line}", hint=hint)

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
            while not self._at_end(goal):
                self._statement(goal)
            self._next()
            goal.end(rank)
        goal.check()
        return goal

    # --- words ------------------------------------------------------------------------------------------------------

    def _lines(self) -> Iterator[tuple[int, str, Row | None]]:
        """Lines that hold something, without their comments: as they are, and taken apart if they are a statement."""
        in_comment = False
        for first, block in blocks(self.path, 1 << 18):
            text = block.decode("utf-8-sig" if first == 1 else "utf-8", errors="replace")
            text = text if text.endswith("\n") else text + "\n"
            lines = text.split("\n")[:-1]
            long = next((line for line, each in enumerate(lines, first) if len(each) >= MAX_LINE), 0)
            if long or first + len(lines) > MAX_LINES:
                self.line = long or first
                self.wrong(f"is longer than {MAX_LINE:,} bytes a line and {MAX_LINES:,} lines", "break long lines")
            if in_comment or "/" in text:
                text, in_comment = _without_comments(text, in_comment)
                lines = text.split("\n")[:-1]
            last = first + len(lines) - 1  # may go on in the next block
            for line, (plain, row) in enumerate(zip(lines, _LINE.findall(text), strict=True), first):
                if plain and not plain.isspace():
                    yield line, plain, None if row[-1] or line == last else row

    def _peek(self) -> str | None:
        while not self.words:
            line = next(self.lines, None)
            if line is None:
                return None
            self._load(*line)
        return self.words[-1]

    def _load(self, line: int, text: str, row: Row | None) -> None:
        self.line, self.row = line, row
        self.words = _TOKEN.findall(text)[::-1]

    def _next(self) -> str:
        word = self._peek()
        if word is None:
            self.wrong("the file ends within a rank or a statement", "was it cut? copy it again")
        self.row = None
        return self.words.pop()

    def _expect(self, word: str) -> None:
        found = self._next()
        if found != word:
            self.wrong(f"{found[:60]!r} stands where {word!r} is needed", EXAMPLE)

    def _whole(self, name: str, text: str, *, least: int = 0) -> int:
        negative = text.startswith("-")
        if not is_whole(text.removeprefix("-"), 20 - negative):
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

    def _quick(self, goal: Goal) -> None:
        """Take in lines that are one whole statement each, as long as they come."""
        if self.words:
            if self.row is None:
                return
            _take(goal, self.line, self.row)
            self.words = []
        for line in self.lines:
            self.line, _, row = line
            if row is None:
                self._load(*line)
                return
            _take(goal, self.line, row)

    def _at_end(self, goal: Goal) -> bool:
        self._quick(goal)
        return self._peek() == "}"

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


def _take(goal: Goal, line: int, row: Row) -> None:
    """Take in a line that is one whole statement."""
    label, send, size, peer, tag, units, waiter, started, awaited, _ = row
    if waiter:
        goal.wait(waiter, awaited, line, started=bool(started))
    elif units:
        goal.add("calc", int(units), line, label=label)
    else:
        goal.add("send" if send else "recv", int(size), line, label=label, peer=int(peer), tag=int(tag or 0))


def _without_comments(text: str, inside: bool) -> tuple[str, bool]:
    """A text without its comments, on the same lines, and whether a long one goes on behind it."""
    text = f"/*{text}" if inside else text
    ends = [match[1] for match in _COMMENT.finditer(text)]
    return _COMMENT.sub(lambda match: " " + "\n" * match[0].count("\n"), text), ends[-1:] == [""]
