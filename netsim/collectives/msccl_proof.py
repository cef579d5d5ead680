"""Does an MSCCL file do what its `coll` says? Its steps are done on chunks that remember whose input they hold.

A chunk holds the input chunk of one number of some ranks (a bit for each), or nothing that means anything. Steps mean
what MSCCL's interpreter does: `r` receives into dst, `rrc` adds src to what is received, `rcs` and `rrs` send that on.
"""

from collections import defaultdict, deque
from collections.abc import Iterable

from netsim.collectives.msccl_xml import RECEIVES, REDUCES, SENDS, Algorithm, Block, MscclStep
from netsim.errors import InputError

Chunk = tuple[int, int]  # the number of the input chunk, and the ranks whose input is summed up in it
NOTHING: Chunk = (-1, 0)
MOST_MOVES = 1 << 24  # of chunks, all steps together: half a minute
ALONE = ("cpy", "re")  # within a GPU


def prove(algorithm: Algorithm) -> None:
    """Raise InputError unless every GPU ends with what the collective gives it, whether in place or out of place."""
    moves = sum(step.count for blocks in algorithm.blocks.values() for block in blocks.values() for step in block.steps)
    wrong = f"its {algorithm.chunks} chunks are no whole number for each of {algorithm.gpus} GPUs"
    if moves > MOST_MOVES:
        hint = "cut the buffer into fewer chunks"
        raise InputError(f"moves more than {MOST_MOVES:,} chunks", where=str(algorithm.path), hint=hint)
    whole = algorithm.op in ("all_reduce", "broadcast", "reduce") or algorithm.chunks % algorithm.gpus == 0
    for in_place in (False, True) if whole else ():
        wrong = _Machine(algorithm, in_place).run() or _Machine(algorithm, in_place).run(turned=True)
        if not wrong:
            return
    what = f'says coll="{algorithm.coll}", but {wrong}'
    raise InputError(what, where=str(algorithm.path), hint="correct its steps, or its coll")


class _Machine:
    """The buffers of all GPUs: chunks by GPU, buffer and number."""

    def __init__(self, algorithm: Algorithm, in_place: bool) -> None:
        self.algorithm, self.in_place = algorithm, in_place
        self.chunks, self.gpus = algorithm.chunks, algorithm.gpus
        self.part = self.chunks // self.gpus  # of one rank, where each has its own
        self.held: dict[tuple[int, str, int], Chunk] = {}  # what has been written
        self.wires: dict[tuple[int, int, int], deque[list[Chunk]]] = defaultdict(deque)

    def run(self, *, turned: bool = False) -> str:
        """Do all steps that can be done; what is wrong with the outcome, if anything is.

        No thread block waits for another but where a step depends on one, so that any order has to do: `turned`, the
        last go first.
        """
        places = [(gpu, number) for gpu, blocks in self.algorithm.blocks.items() for number in blocks]
        at = dict.fromkeys(reversed(places) if turned else places, 0)
        moved = True
        while moved:
            moved = False
            for (gpu, number), done in at.items():
                block = self.algorithm.blocks[gpu][number]
                while done < len(block.steps) and self._can(gpu, block, block.steps[done], at):
                    self._do(gpu, block, block.steps[done])
                    done += 1
                    moved = True
                at[gpu, number] = done
        return self._told()

    def _can(self, gpu: int, block: Block, step: MscclStep, at: dict[tuple[int, int], int]) -> bool:
        if step.type in RECEIVES and not self.wires[block.recv, gpu, block.channel]:
            return False
        return step.dep is None or at.get((gpu, step.dep[0]), 0) > step.dep[1]

    def _do(self, gpu: int, block: Block, step: MscclStep) -> None:
        sources = [self._at(gpu, step.buffer, step.offset + each) for each in range(step.count)]
        targets = [self._at(gpu, step.into, step.at + each) for each in range(step.count)]
        chunks = [self._get(each) for each in sources]
        if step.type in RECEIVES:
            taken = self.wires[block.recv, gpu, block.channel].popleft()
            chunks = [_sum(*pair) for pair in zip(taken, chunks, strict=False)] if step.type in REDUCES else taken
        if step.type == "re":
            chunks = [_sum(chunk, self._get(place)) for chunk, place in zip(chunks, targets, strict=True)]
        if step.type in (*ALONE, "r", "rcs", "rrc", "rrcs"):
            self.held.update(zip(targets, chunks, strict=False))
        if step.type in SENDS:
            self.wires[gpu, block.send, block.channel].append(chunks)

    def _get(self, place: tuple[int, str, int]) -> Chunk:
        """What a place holds: its input, if nothing has been written there."""
        if place in self.held:
            return self.held[place]
        gpu, buffer, number = place
        own = self.algorithm.op == "all_gather"
        number -= gpu * self.part if own and self.in_place else 0
        is_input = buffer == ("o" if self.in_place else "i") and 0 <= number < (self.part if own else self.chunks)
        return (number, 1 << gpu) if is_input else NOTHING

    def _at(self, gpu: int, buffer: str, number: int) -> tuple[int, str, int]:
        """A place; in place, the smaller of input and output is a part of the other."""
        if self.in_place and buffer == "i":
            return gpu, "o", number + (gpu * self.part if self.algorithm.op == "all_gather" else 0)
        if self.in_place and buffer == "o" and self.algorithm.op == "reduce_scatter":
            return gpu, "o", number + gpu * self.part
        return gpu, buffer, number

    def _told(self) -> str:
        """Say which chunk is not what it should be."""
        op, text = self.algorithm.op, ""
        for root in range(self.gpus if op in ("broadcast", "reduce") else 1):
            here = self._lacking(root, (root,) if op == "reduce" else range(self.gpus))
            if not here:
                return ""
            text = text or here
        return text

    def _lacking(self, root: int, ends: Iterable[int]) -> str:
        for gpu in ends:
            if self.algorithm.op == "broadcast" and gpu == root:
                continue  # whose input need not be copied
            for number in range(self.part if self.algorithm.op == "reduce_scatter" else self.chunks):
                if self._get(self._at(gpu, "o", number)) != self._wanted(gpu, number, root):
                    return f"gpu {gpu} ends without chunk {number} of its output"
        return ""

    def _wanted(self, gpu: int, number: int, root: int) -> Chunk:
        """What a chunk of a GPU's output has to be."""
        op, everyone = self.algorithm.op, (1 << self.gpus) - 1
        if op in ("all_reduce", "reduce"):
            return number, everyone
        if op == "broadcast":
            return number, 1 << root
        if op == "reduce_scatter":
            return gpu * self.part + number, everyone
        source, own = divmod(number, self.part)
        return own + (gpu * self.part if op == "all_to_all" else 0), 1 << source


def _sum(one: Chunk, other: Chunk) -> Chunk:
    """The sum of two chunks; nothing that means anything if they are of different numbers or share a rank."""
    return (one[0], one[1] | other[1]) if one[0] == other[0] and not one[1] & other[1] else NOTHING
