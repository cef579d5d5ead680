"""The events of a trace file as text, and the lanes on which slices may stand without crossing."""

import heapq
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Event = str  # one event as JSON, or several with ",\n" between them
PS_PER_US = 10**6
PS_PER_NS = NS_PER_US = 1000


def stamp(time_ps: int) -> str:
    """A time in microseconds, to the nanosecond: "12.035"."""
    whole, rest = divmod(nanoseconds(time_ps), NS_PER_US)
    return f"{whole}.{rest:03d}"


def nanoseconds(time_ps: Any) -> Any:
    """The nearest nanosecond of a time, or of many, as viewers count: what ends before another begins still does."""
    return (time_ps + PS_PER_NS // 2) // PS_PER_NS


def text(value: Any) -> str:
    """A value as JSON without blanks."""
    return json.dumps(value, separators=(",", ":"))


def named(kind: str, process: int, thread: int, key: str, value: Any) -> Event:
    """A metadata event: the name or the place of a process or thread."""
    return f'{{"ph":"M","name":"{kind}","pid":{process},"tid":{thread},"args":{{"{key}":{text(value)}}}}}'


def slice_event(where: tuple[int, int], start_ps: int, end_ps: int, name: str, kind: str, about: Any) -> Event:
    """Something with a beginning and an end on one thread, `where` = (process, thread).

    Beginning and end are rounded, and the duration is what lies between: with one rounded by itself, a slice would
    reach a nanosecond into the next, or out of the one around it, and viewers drop such slices.
    """
    rounded_ps = (nanoseconds(max(start_ps, end_ps)) - nanoseconds(start_ps)) * PS_PER_NS
    times = f'"ts":{stamp(start_ps)},"dur":{stamp(rounded_ps)}'
    what = f'"name":{text(name)},"cat":"{kind}","args":{text(about)}'
    return f'{{"ph":"X","pid":{where[0]},"tid":{where[1]},{times},{what}}}'


def arrow(number: int, kind: str, tail: tuple[int, int], tail_ps: int, head: tuple[int, int], head_ps: int) -> str:
    """An arrow from the slice that began last at one place to that at another: two events.

    Perfetto takes the slice that began last even where it has ended, and turns an arrow around whose tail is on a slice
    that began after that of its head.
    """
    common = f'"id":{number},"name":"{kind}","cat":"{kind}"'
    begin = f'{{"ph":"s","pid":{tail[0]},"tid":{tail[1]},"ts":{stamp(tail_ps)},{common}}}'
    end = f'{{"ph":"f","bp":"e","pid":{head[0]},"tid":{head[1]},"ts":{stamp(head_ps)},{common}}}'
    return f"{begin},\n{end}"


def counter(process: int, time_ps: int, name: str, unit: str, value: float) -> Event:
    """The value of a counter from now on."""
    return f'{{"ph":"C","pid":{process},"ts":{stamp(time_ps)},"name":{text(name)},"args":{{"{unit}":{value:.6g}}}}}'


@dataclass
class Lanes:
    """Threads of processes, as few as needed: slices of one lane never overlap, as the viewers want it.

    Ask in order of the slices' beginnings. `names` tells the threads that came to be.
    """

    first_thread: int
    sort_index: int = 0
    names: list[tuple[int, int, str]] = field(default_factory=list)  # process, thread, name
    _free: dict[tuple[int, str], list[tuple[int, int]]] = field(default_factory=dict)  # heaps of (free from, thread)
    _count: dict[tuple[int, str], int] = field(default_factory=dict)

    def lane(self, process: int, track: str, start_ps: int, end_ps: int) -> tuple[int, int]:
        """The process and thread for a slice of this track."""
        key = (process, track)
        free = self._free.setdefault(key, [])
        if free and free[0][0] <= start_ps:
            thread = free[0][1]
            heapq.heapreplace(free, (max(end_ps, start_ps), thread))
            return process, thread
        number = self._count[key] = self._count.get(key, 0) + 1
        thread = self.first_thread + len(self.names)
        self.names.append((process, thread, track if number == 1 else f"{track} ({number})"))
        heapq.heappush(free, (max(end_ps, start_ps), thread))
        return process, thread

    def events(self) -> Iterator[Event]:
        """The names of all threads, and their place in the process: `sort_index`."""
        for process, thread, name in self.names:
            yield named("thread_name", process, thread, "name", name)
            yield named("thread_sort_index", process, thread, "sort_index", self.sort_index)
