"""What one rank of a PyTorch job tells about its calls, whichever of PyTorch's files it stands in."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.limits import MAX_BYTES, MAX_NAME, MAX_RANKS

Ranks = tuple[int, ...]
PS_PER_US, PS_PER_NS = 1_000_000, 1_000

_FP8 = ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
TYPES = {  # names of c10::ScalarType, of C++ and of numpy, in small letters -> name here and bytes
    **dict.fromkeys(("float", "float32"), ("fp32", 4)),
    **dict.fromkeys(("half", "float16"), ("fp16", 2)),
    "bfloat16": ("bf16", 2),
    **dict.fromkeys(("double", "float64"), ("fp64", 8)),
    **dict.fromkeys(("long", "long int", "int64"), ("int64", 8)),
    **dict.fromkeys(("int", "int32"), ("int32", 4)),
    **dict.fromkeys(("short", "short int", "int16"), ("int16", 2)),
    **dict.fromkeys(("char", "signed char", "int8"), ("int8", 1)),
    **dict.fromkeys(("byte", "unsigned char", "uint8"), ("uint8", 1)),
    "bool": ("bool", 1),
    **{f"uint{bits}": (f"uint{bits}", bits // 8) for bits in (16, 32, 64)},
    **{f"float8_{kind}": (f"fp8{kind[:4]}", 1) for kind in _FP8},
    **dict.fromkeys(("complexfloat", "complex<float>", "complex64"), ("complex64", 8)),
    **dict.fromkeys(("complexdouble", "complex<double>", "complex128"), ("complex128", 16)),
}
_OPERATIONS = {  # the beginnings of names without underscores, longest first where one begins another
    "allreducebarrier": "barrier",
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "barrier": "barrier",
    "send": "send",
    "recv": "recv",
}
NO_TRAFFIC = ("wait", "init", "coalesced", "startcoalescing", "endcoalescing", "startcoalesced", "endcoalesced")
_SHORT_NAME = re.compile(r"^(?:nccl|gloo|ucc|mpi|xccl|rccl|hccl):")


@lru_cache(1 << 12)
def operation_of(name: str) -> str | None:
    """Translate `_allgather_base`, `nccl:all_to_all` or `allreduce_coalesced`; None where it is no known operation."""
    plain = _SHORT_NAME.sub("", name.lower()).replace("_", "")
    return next((op for start, op in _OPERATIONS.items() if plain.startswith(start)), None)


@lru_cache(1 << 12)
def no_traffic(name: str) -> bool:
    """Tell whether a name stands for no communication of its own, such as `wait`."""
    return _SHORT_NAME.sub("", name.lower()).replace("_", "") in NO_TRAFFIC


def type_of(name: str, where: str) -> tuple[str, int]:
    """Give the name and the width in bytes of a type of PyTorch's, such as BFloat16 or c10::Half; no guesses."""
    known = TYPES.get(name.lower().removeprefix("c10::").removeprefix("torch."))
    if known is None:
        what = f"the type of data {name[:MAX_NAME]!r} is none that netsim knows"
        raise InputError(what, where=where, hint="remove the call, or ask for netsim to learn the type")
    return known


def whole(value: object) -> int | None:
    """Take a number of bytes, elements or the like; None where it is none."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_BYTES:
        return None
    return value


def picoseconds(value: object, unit: int) -> int | None:
    """Take a time; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or abs(value) > 1e19:
        return None
    return value * unit if isinstance(value, int) else round(value * unit)


def _wholes(value: object) -> list[int | None]:
    """Take the numbers of a list, also as text "[0, 1]"; None for what is no number."""
    if isinstance(value, str):
        inside = value.strip().removeprefix("[").removesuffix("]")
        value = [each.strip() for each in inside.split(",", MAX_RANKS)] if inside.strip() else []
    return [whole(each) for each in value] if isinstance(value, list | tuple) else []


def rank_list(value: object) -> Ranks | None:
    """Take a list of ranks, also as text "[0, 1]"; None where it is empty, cut off ("[0, 1, ...]") or no such list."""
    listed = _wholes(value)
    ranks = tuple(each for each in listed if each is not None and each < MAX_RANKS)
    return ranks if ranks and len(ranks) == len(listed) == len(set(ranks)) else None


def split_list(value: object) -> Ranks:
    """Take the sizes of the parts of an all-to-all, also as text; () where they are even, cut off or not given."""
    listed = _wholes(value)
    parts = tuple(each for each in listed if each is not None)
    return parts if len(parts) == len(listed) else ()


def elements(shapes: object) -> int | None:
    """Count the elements of tensors of these shapes; None where a shape is no list of sizes."""
    if not isinstance(shapes, list | tuple):
        return None
    total = 0
    for shape in shapes:
        sizes = [whole(each) for each in shape] if isinstance(shape, list | tuple) else [None]
        if None in sizes or len(sizes) > 64:
            return None
        total += math.prod(each for each in sizes if each is not None)
    return total if total <= MAX_BYTES else None


def rank_in_name(path: Path) -> int | None:
    """Read the rank out of a file's name: `...rank3.json`, `worker3`, else its last number."""
    name = path.name.removesuffix(".gz")
    for ending in (".json", ".jsonl", ".pickle", ".pkl", ".pt.trace", ".txt"):
        name = name.removesuffix(ending)
    named = re.findall(r"(?:rank|worker)[-_. ]?([0-9]{1,6})(?![0-9])", name, re.IGNORECASE)
    last = re.findall(r"[_.-]([0-9]{1,6})$", name) or ([name] if re.fullmatch(r"[0-9]{1,6}", name) else [])
    found = [int(each) for each in named[-1:] or last[-1:]]
    return found[0] if found and found[0] < MAX_RANKS else None


@dataclass(slots=True)
class RankCall:
    """One call, as one rank tells it.

    `sent` and `received` are what this rank gives and gets, in bytes; `splits` the shares of its peers in what it
    gives (() if even). `peer` is the position in the group of the other end or of the root (-1: not told). `order`
    sorts the calls of a rank; `seq` is the number the source gives the call; sends and receives of one `batch` start
    together.
    """

    op: str
    group: str
    sent: int
    received: int
    dtype: str
    line: int
    order: int
    splits: Ranks = ()
    peer: int = -1
    global_peer: int = -1
    stream: str = ""
    start_ps: int | None = None
    duration_ps: int | None = None
    seq: int = -1
    batch: int = -1

    def full_bytes(self, ranks: int) -> int:
        """The full buffer of the operation in a group of so many ranks."""
        if self.op == "barrier":
            return 0
        if self.op in ("all_gather", "gather"):
            return self.received or self.sent * ranks
        if self.op == "scatter":
            return max(self.sent, self.received * ranks)
        if self.op == "reduce_scatter":
            return self.sent or self.received * ranks
        return self.received if self.op == "recv" else self.sent or self.received

    def row(self, ranks: int) -> Ranks | None:
        """What it sends to each member of the group, in bytes, where that is not the same for all."""
        total = sum(self.splits)
        if self.op != "all_to_all" or len(self.splits) != ranks or not total or len(set(self.splits)) == 1:
            return None
        return tuple(self.sent * each // total for each in self.splits)


@dataclass(slots=True, eq=False)
class RankFile:
    """What one file tells: the file of one rank, whose number stands in its name where nothing else tells it."""

    path: Path
    rank: int | None = None
    world: int = 0
    groups: dict[str, Ranks] = field(default_factory=dict)
    recorded: list[RankCall] = field(default_factory=list)
    events: int = 0
    cut: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    assumed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.rank is None:
            self.rank = rank_in_name(self.path)

    def type_of(self, name: str, line: int) -> tuple[str, int]:
        """Give the name and the width in bytes of a type that stands on a line."""
        return type_of(name, f"{self.path}:{line}")

    def take_info(self, info: object) -> None:
        """Take in what the profiler says of the job."""
        if isinstance(info, dict):
            rank, world = whole(info.get("rank")), whole(info.get("world_size"))
            self.rank = rank if rank is not None and rank < MAX_RANKS else self.rank
            self.world = world if world is not None and world <= MAX_RANKS else self.world
            self.add_groups(info.get("pg_config"))

    def add_groups(self, listed: object) -> None:
        """Take in the list of process groups that newer files hold."""
        for each in listed if isinstance(listed, list) else []:
            if not isinstance(each, dict) or not isinstance(each.get("pg_name"), str):
                continue
            ranks = rank_list(each.get("ranks"))
            size = whole(each.get("pg_size", each.get("group_size"))) or 0
            if ranks is None and 0 < size <= MAX_RANKS and each.get("ranks") in ([], "[]", None):
                ranks = tuple(range(size))  # an empty list stands for all ranks
                self.world = max(self.world, size)
            if ranks is not None and size in (0, len(ranks)):
                self.groups.setdefault(each["pg_name"], ranks)

    def call(self, args: dict[str, Any], line: int, order: int = 0) -> RankCall | None:
        """Read a call from what record_param_comms says since PyTorch 2.2; None where it says too little."""
        name, group, dtype = args.get("Collective name"), args.get("Process Group Name", ""), args.get("dtype")
        sent, received = whole(args.get("In msg nelems")), whole(args.get("Out msg nelems"))
        if not isinstance(name, str) or not isinstance(group, str) or not isinstance(dtype, str):
            return None
        op = operation_of(name)
        if op is None or sent is None or received is None:
            return None
        self._learn_group(group, args)
        kind, width = self.type_of(dtype, line)
        splits, other = split_list(args.get("In split size")), None
        if op in ("send", "recv"):
            other = whole(args.get("Dst Rank" if op == "send" else "Src Rank"))
        made = RankCall(op, group, sent * width, received * width, kind, line, order, splits)
        said = (whole(args.get("Rank")), other, whole(args.get("Seq")))
        made.peer, made.global_peer, made.seq = (-1 if each is None else each for each in said)
        return made

    def _learn_group(self, group: str, args: dict[str, Any]) -> None:
        """Take the ranks of a group from a call, where the list of groups does not hold it; long lists are cut off."""
        if group in self.groups:
            return
        ranks, size = rank_list(args.get("Process Group Ranks")), whole(args.get("Group size")) or 0
        start, stride = whole(args.get("Global rank start")), whole(args.get("Global rank stride"))
        if (ranks is None or len(ranks) != size) and start is not None and stride and 0 < size <= MAX_RANKS:
            ranks = tuple(start + stride * each for each in range(size))
        if ranks is not None and len(ranks) == size and max(ranks) < MAX_RANKS:
            self.groups[group] = ranks
