"""Run a sweep: the points that are not finished yet, each written down at once; what failed stops no other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netsim.config.limits import Limits
from netsim.study.folder import DONE, FAILED, Record, StudyFolder
from netsim.study.plan import Plan, Point
from netsim.study.pool import Finished, Pool, Task

if TYPE_CHECKING:
    import pyarrow as pa

Tell = Callable[[Finished], None]


@dataclass(frozen=True, slots=True)
class SweepWork:
    """What a sweep finds when it starts: runs that are finished already, and those to do, each digest once."""

    plan: Plan
    folder: StudyFolder
    records: dict[str, Record]
    todo: list[Point]

    @property
    def failed(self) -> list[Record]:
        """The runs that failed."""
        return [record for record in self.records.values() if record["status"] == FAILED]


def work_of(plan: Plan, folder: StudyFolder, *, retry_failed: bool = False) -> SweepWork:
    """Look what is finished; with `retry_failed` what failed before is to do again."""
    runs = {point.digest: point for point in reversed(plan.points)}
    found = {digest: folder.record(digest) for digest in reversed(runs)}
    wanted = (DONE,) if retry_failed else (DONE, FAILED)
    records = {digest: each for digest, each in found.items() if each is not None and each["status"] in wanted}
    return SweepWork(plan, folder, records, [runs[digest] for digest in found if digest not in records])


def swept(work: SweepWork, pool: Pool, tell: Tell, wall_limit_ps: int | None = None) -> pa.Table:
    """Do what is to do, and write the table; also when interrupted, of what is finished by then.

    A run that takes longer than wall_limit_ps by the clock has failed.
    """
    limits = Limits(work.plan.time_limit_ps, wall_limit_ps)
    tasks = [Task(number, point.scenario, limits) for number, point in enumerate(work.todo)]
    try:
        with closing(pool.run(tasks)) as runs:  # an interruption ends the processes now, not when Python gets to it
            for finished in runs:
                point = work.todo[finished.number]
                work.records[point.digest] = work.folder.keep(point, finished)
                tell(finished)
    finally:
        table = work.folder.write_table(work.plan, work.records)
    return table
