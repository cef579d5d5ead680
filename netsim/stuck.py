"""Why nothing moves any more: who waits for what, in words."""

from typing import Any

from netsim.core.tables import World
from netsim.topology.network import Network


def who_waits(under_way: list[Any], world: World, network: Network) -> tuple[str, str]:
    """What happened and the mend, for a run in which nothing is in flight and some parts are not finished."""
    first = under_way[0]
    parts = world.parts[first.admitted.first_part : first.admitted.first_part + first.admitted.parts]
    missing = [position for position in range(len(parts)) if position not in first.entered]
    name = f"{first.about.get('op', 'collective')} {first.number}"
    if missing:
        who = ", ".join(str(position) for position in missing[:5])
        return f"{name} waits for members {who} that never began it", "every rank of a group must call the collective"
    waiting = [
        f"{network.hosts[part['host']].name} for {part['incoming']} chunk flows" for part in parts if part["incoming"]
    ]
    return (
        f"{name} cannot go on: nothing is in flight and {', '.join(waiting[:5])} wait",
        "check the schedule's `after`",
    )
