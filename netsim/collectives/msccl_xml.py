"""Reading MSCCL's XML: the thread blocks of each GPU and their steps. A document type, so any entity, is refused.

The layout is that of Azure/msccl-tools and of RCCL's algorithms: algo / gpu / tb / step.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from netsim.errors import InputError, nearest

MAX_FILE = 1 << 26  # 64 MiB
MAX_STEPS = 1 << 21
MAX_GPUS = 1 << 14
MAX_CHUNKS = 1 << 20
MAX_CHANNEL = 1 << 10
MAX_BYTES = 1 << 50  # 1 PiB
RECEIVES = ("r", "rcs", "rrs", "rrc", "rrcs")
REDUCES = ("rrs", "rrc", "rrcs")
SENDS = ("s", "rcs", "rrs", "rrcs")
TYPES = (*RECEIVES, "s", "re", "cpy", "nop")
INSIDE = {"algo": "", "gpu": "algo", "tb": "gpu", "step": "tb"}  # each element, and the one it stands in
OPS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "broadcast": "broadcast",
    "reduce": "reduce",
}

Attributes = dict[str, str]


@dataclass(slots=True)
class MscclStep:
    """One step of a thread block: what it reads, and where it writes; `dep` is the (thread block, step) of the same GPU
    that must be finished first."""

    line: int
    type: str
    buffer: str
    offset: int
    count: int
    dep: tuple[int, int] | None
    into: str = ""
    at: int = 0


@dataclass(slots=True)
class Block:
    """A thread block: it sends to one GPU and receives from one (-1: none), and does its steps in order."""

    line: int
    id: int
    send: int
    recv: int
    channel: int
    steps: list[MscclStep] = field(default_factory=list)


@dataclass(slots=True)
class Algorithm:
    """A file: what it is for, into how many chunks it cuts the full buffer, and the blocks of each GPU by number.

    It is for full buffers of `least` to `most` bytes (minBytes, maxBytes; 0: any more).
    """

    path: Path
    name: str
    coll: str
    op: str
    gpus: int
    chunks: int
    least: int = 0
    most: int = 0
    blocks: dict[int, dict[int, Block]] = field(default_factory=dict)
    proven: bool = False  # that it does what `coll` says

    def takes(self, size: int) -> bool:
        """Tell whether it is for buffers of this size."""
        return self.least <= size and (not self.most or size <= self.most)

    def wrong(self, line: int, what: str, hint: str) -> InputError:
        """The error that names a line."""
        return InputError(what, where=f"{self.path}:{line}", hint=hint)


def read_xml(path: Path) -> Algorithm:
    """Read a file; every mistake is an InputError that names its line."""
    with plain_errors(path), path.open("rb") as stream:
        content = stream.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise InputError(f"is longer than {MAX_FILE:,} bytes", where=str(path), hint="is it an MSCCL algorithm?")
    return _Reader(path).read(content)


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn what the system says about a file into an InputError."""
    try:
        yield
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, where=str(path), hint="check the path of the MSCCL algorithm") from None


class _Reader:
    """Takes the elements as the parser meets them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.open: list[str] = []
        self.algorithm: Algorithm | None = None
        self.gpu = -1
        self.block: Block | None = None
        self.steps = 0

    def read(self, content: bytes) -> Algorithm:
        try:
            self.parser.Parse(content, True)
        except expat.ExpatError as error:
            what = f"is no XML ({expat.errors.messages[error.code]})"
            where, hint = f"{self.path}:{error.lineno}", "was the file cut? copy it again"
            raise InputError(what, where=where, hint=hint) from None
        assert self.algorithm is not None  # the first element is checked to be one
        if len(self.algorithm.blocks) != self.algorithm.gpus:
            what = f"says ngpus {self.algorithm.gpus}, but {len(self.algorithm.blocks)} are there"
            raise self.algorithm.wrong(1, what, "write the number that is there")
        return self.algorithm

    def wrong(self, what: str, hint: str) -> InputError:
        return InputError(what, where=f"{self.path}:{self.parser.CurrentLineNumber}", hint=hint)

    def _doctype(self, *_: object) -> None:
        raise self.wrong("declares a document type, which may hide entities", "take the <!DOCTYPE ...> out")

    def _start(self, name: str, given: Attributes) -> None:
        if name not in INSIDE or INSIDE[name] != (self.open[-1] if self.open else ""):
            place = f"inside <{self.open[-1]}>" if self.open else "first"
            raise self.wrong(f"<{name[:60]}> {place} is not known", "the layout is <algo> <gpu> <tb> <step/>")
        self.open.append(name)
        if name == "algo":
            self._algo(given)
        else:
            {"gpu": self._gpu, "tb": self._tb, "step": self._step}[name](given)

    def _end(self, name: str) -> None:
        self.open.pop()

    def _algo(self, given: Attributes) -> None:
        coll = self._text(given, "coll")
        if coll not in OPS:
            raise self.wrong(f"coll {coll[:60]!r} is not known", nearest(coll[:60], OPS))
        gpus, chunks = self._whole(given, "ngpus", 1, MAX_GPUS), self._whole(given, "nchunksperloop", 1, MAX_CHUNKS)
        least, most = (self._whole({key: "0"} | given, key, 0, MAX_BYTES) for key in ("minBytes", "maxBytes"))
        if most and least > most:
            raise self.wrong(f"minBytes {least:,} is above maxBytes {most:,}", "it would be for no size at all")
        name = given.get("name", self.path.stem)[:60]
        self.algorithm = Algorithm(self.path, name, coll, OPS[coll], gpus, chunks, least, most)

    def _gpu(self, given: Attributes) -> None:
        assert self.algorithm is not None
        self.gpu = self._whole(given, "id", 0, self.algorithm.gpus - 1)
        if self.gpu in self.algorithm.blocks:
            raise self.wrong(f"gpu {self.gpu} stands there twice", "keep one of them")
        self.algorithm.blocks[self.gpu] = {}

    def _tb(self, given: Attributes) -> None:
        assert self.algorithm is not None
        blocks, last = self.algorithm.blocks[self.gpu], self.algorithm.gpus - 1
        number = self._whole(given, "id", 0, MAX_STEPS)
        if number in blocks:
            raise self.wrong(f"tb {number} of gpu {self.gpu} stands there twice", "keep one of them")
        send, recv = self._whole(given, "send", -1, last), self._whole(given, "recv", -1, last)
        if self.gpu in (send, recv):
            raise self.wrong(f"gpu {self.gpu} sends to or receives from itself", "name another, or -1 for none")
        channel = self._whole(given, "chan", 0, MAX_CHANNEL)
        self.block = blocks[number] = Block(self.parser.CurrentLineNumber, number, send, recv, channel)

    def _step(self, given: Attributes) -> None:
        assert self.algorithm is not None
        assert self.block is not None
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise self.wrong(f"there are more than {MAX_STEPS:,} steps", "is it an MSCCL algorithm?")
        kind = self._text(given, "type")
        if kind not in TYPES:
            raise self.wrong(f"the step type {kind[:60]!r} is not known", nearest(kind[:60], TYPES))
        lacks = "send" if kind in SENDS and self.block.send < 0 else "recv"
        if (kind in SENDS and self.block.send < 0) or (kind in RECEIVES and self.block.recv < 0):
            raise self.wrong(f"a step {kind!r} stands in a tb with {lacks} -1", f"name a GPU in the tb's {lacks}")
        block, step = self._whole(given, "depid", -1, MAX_STEPS), self._whole(given, "deps", -1, MAX_STEPS)
        # A transfer never spans more than the whole buffer.
        count = self._whole(given, "cnt", 0 if kind == "nop" else 1, self.algorithm.chunks)
        offset = self._whole(given, "srcoff", -1, MAX_CHUNKS)
        at = max(0, self._whole({"dstoff": "0"} | given, "dstoff", -1, MAX_CHUNKS))
        dep = (block, step) if block >= 0 and step >= 0 else None
        line, source, into = self.parser.CurrentLineNumber, given.get("srcbuf", ""), given.get("dstbuf", "")
        self.block.steps.append(MscclStep(line, kind, source, max(offset, 0), count, dep, into, at))

    def _text(self, given: Attributes, key: str) -> str:
        if key not in given:
            raise self.wrong(f"<{self.open[-1]}> has no {key}", f'write {key}="..."')
        return given[key]

    def _whole(self, given: Attributes, key: str, low: int, high: int) -> int:
        text = self._text(given, key)
        digits = text.removeprefix("-")
        if not (digits.isdecimal() and digits.isascii() and len(digits) < 17) or not low <= int(text) <= high:
            raise self.wrong(f"{key}={text[:60]!r} is no whole number from {low:,} to {high:,}", f'like {key}="0"')
        return int(text)
