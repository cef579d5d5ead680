"""Which ranks form a group where a file names only kinds of parallelism: ranks are laid out as Megatron-LM does.

Tensor-parallel ranks are neighbours, then come data-parallel ones (cut into experts), then pipeline stages.
"""

from __future__ import annotations

from dataclasses import dataclass

from netsim.errors import InputError
from netsim.traces.limits import MAX_RANKS
from netsim.traces.trace import WORLD, Group

SERVER = 8  # GPUs: what is assumed where a file does not say how many there are
_NEAR = "tensor-parallel ranks are neighbours, pipeline stages lie farthest apart"
LAYOUT = f"ranks are laid out as in Megatron-LM: {_NEAR}"


@dataclass(frozen=True, slots=True)
class ParallelLayout:
    """How many ranks there are, and how many act together in each way."""

    ranks: int
    tensor: int = 1
    expert: int = 1
    pipeline: int = 1

    def check(self, where: str) -> ParallelLayout:
        """Refuse sizes that do not divide each other."""
        hint = "all_gpus must be a multiple of tensor x pipeline, and what is left one of the experts"
        if not (0 < self.ranks <= MAX_RANKS and min(self.tensor, self.expert, self.pipeline) > 0):
            parts = f"tensor {self.tensor:,}, experts {self.expert:,}, pipeline {self.pipeline:,}"
            more = "; data-parallel replicas left out do the same" if self.ranks > MAX_RANKS else ""
            what = f"{self.ranks:,} GPUs ({parts}) cannot be"
            raise InputError(what, where=where, hint=f"each must be 1 to {MAX_RANKS:,}{more}")
        if self.ranks % (self.tensor * self.pipeline) or self.data % self.expert:
            what = f"{self.ranks} ranks cannot be cut into tensor {self.tensor} x pipeline {self.pipeline}"
            raise InputError(f"{what} with {self.expert} experts", where=where, hint=hint)
        return self

    @property
    def data(self) -> int:
        """Ranks that hold the same part of the model."""
        return self.ranks // (self.tensor * self.pipeline)

    def groups(self, kind: str) -> list[Group]:
        """All groups of a kind: "tp", "dp", "ep" (experts), "dp_ep" (the same expert), "pp" or "world"."""
        if kind == WORLD:
            return [Group(WORLD, tuple(range(self.ranks)))]
        members = self._members(kind)
        if len(members) == 1 and members[0] == tuple(range(self.ranks)):
            return [Group(WORLD, members[0])]
        return [Group(f"{kind}{number}" if len(members) > 1 else kind, each) for number, each in enumerate(members)]

    def _members(self, kind: str) -> list[tuple[int, ...]]:
        tensor, data, stage = self.tensor, self.data, self.tensor * self.data
        stages = range(0, self.ranks, stage)
        if kind == "tp":
            return [tuple(range(first, first + tensor)) for first in range(0, self.ranks, tensor)]
        if kind == "pp":
            return [tuple(range(first, self.ranks, stage)) for first in range(stage)]
        lines = [tuple(range(at + first, at + stage, tensor)) for at in stages for first in range(tensor)]
        if kind == "ep":
            return [line[at : at + self.expert] for line in lines for at in range(0, data, self.expert)]
        if kind == "dp_ep":
            return [line[expert :: self.expert] for line in lines for expert in range(self.expert)]
        return lines
