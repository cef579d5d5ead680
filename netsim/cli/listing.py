"""List every algorithm, topology, routing, transport, trace format and built-in input.

\b
  netsim list
  netsim list transports
  netsim list --json
"""

from typing import Annotated

from netsim.cli import show
from netsim.cli.choices import Json, argument
from netsim.errors import InputError, nearest

What = Annotated[str | None, argument("[WHAT]", "Only these, for instance transports or traces.")]


def list_all(what: What = None, as_json: Json = False) -> None:
    names = _chosen(what)
    if as_json:
        show.as_json(names)
        return
    for room, entries in names.items():
        print(f"{room}:")
        for name, what in entries.items():
            print(f"  {name:<24} {what}".rstrip())


def _chosen(what: str | None) -> dict[str, dict[str, str]]:
    """The lists whose titles hold the word, in the singular or the plural."""
    names = _names()
    if what is None:
        return names
    found = {title: entries for title, entries in names.items() if what.rstrip("s") in title}
    if not found:
        words = sorted(
            {word.strip("(") for title in names for word in title.split()} - {"is", "the", "first", "default)"}
        )
        raise InputError(f"there is no list of {what!r}", where="netsim list", hint=nearest(what, words))
    return found


def _names() -> dict[str, dict[str, str]]:
    from netsim.collectives import ALGORITHMS
    from netsim.config.builtin_inputs import names
    from netsim.queues import QUEUES
    from netsim.routing import ROUTINGS
    from netsim.topology import TOPOLOGIES
    from netsim.traces import READERS
    from netsim.transport import CONTROLS, RECOVERIES
    from netsim.transport.presets import PRESETS

    return {
        "algorithms (the first is the default)": {op: ", ".join(made) for op, made in ALGORITHMS.items()},
        "topology kinds": {name: _first_line(kind) for name, kind in TOPOLOGIES.items()},
        "routings": {name: _first_line(kind) for name, kind in ROUTINGS.items()},
        "transport presets": {name: preset.what for name, preset in PRESETS.items()},
        "transport controls": dict(CONTROLS),
        "loss recoveries": dict(RECOVERIES),
        "queue disciplines": dict(QUEUES),
        "trace formats": {name: _first_line(reader.code) for name, reader in READERS.items()},
        "built-in topologies": dict.fromkeys(names("topologies"), ""),
        "built-in traces": dict.fromkeys(names("traces"), ""),
    }


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]
