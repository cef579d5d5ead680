"""Classes: which traffic goes before which, by the group or the operation that causes it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from netsim.collectives import ALGORITHMS
from netsim.errors import refuse_unknown

HIGHEST = 7  # of the eight of IEEE 802.1Q

TrafficClass = Annotated[int, Field(ge=0, le=HIGHEST)]


class Classes(BaseModel):
    """Collectives of a group or an operation get a class 0 to 7; a higher one is always served first. The rest has 0.

    A group counts before an operation. Every link has a queue, marks and pauses for each class, all with the settings
    of the topology; control is above them all. Connections of different classes are different connections.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    by_group: dict[str, TrafficClass] = Field(default_factory=dict)
    by_operation: dict[str, TrafficClass] = Field(default_factory=dict)

    @field_validator("by_operation")
    @classmethod
    def _known_operations(cls, chosen: dict[str, int]) -> dict[str, int]:
        refuse_unknown("no operation", chosen, ALGORITHMS)
        return chosen

    @property
    def count(self) -> int:
        """How many classes links must tell apart: those up to the highest in use."""
        return 1 + max([0, *self.by_group.values(), *self.by_operation.values()])

    def of(self, op: str, group: str | None) -> int:
        """The class of a collective."""
        return self.by_group.get(group or "", self.by_operation.get(op, 0))
