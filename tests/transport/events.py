"""Play events to the control of one connection, one after the other, and read its state in between."""

from typing import Any

import numpy as np

from netsim.core.state.dtypes import CONNECTION
from netsim.core.state.settings import SETTINGS
from netsim.kernel import entry
from netsim.transport import CODES, dispatch
from netsim.transport.fixed_point import ONE
from netsim.transport.settings import Transport

US, GBPS = 10**6, 10**9
START, ACK, CNP, SEND, ROUND_TRIP, TELEMETRY, NACK, LOSS, TIMEOUT = range(9)


@entry
def play(connections, table, kind, now, a, b, c, d, answer):  # type: ignore[no-untyped-def]
    """Let the control of connection 0 hear of one event; a to d are its arguments in the order of `dispatch`."""
    sender, settings = connections[0], table[0].controls
    if kind == START:
        dispatch.start(sender, settings, a, b, c, d)
    elif kind == ACK:
        dispatch.on_ack(sender, settings, a, b, now)
    elif kind == CNP:
        dispatch.on_notification(sender, settings, now)
    elif kind == SEND:
        answer[0] = dispatch.on_send(sender, settings, a, now)
    elif kind == ROUND_TRIP:
        dispatch.on_round_trip(sender, settings, a, b, c, d, now)
    elif kind == TELEMETRY:
        dispatch.on_telemetry(sender, settings, a, b, c)
    elif kind == NACK:
        dispatch.on_nack(sender, settings, a, b, c, now)
    elif kind == LOSS:
        dispatch.on_loss(sender, settings, a, now)
    else:
        dispatch.on_timeout(sender, settings, a, now)


class Sender:
    """One connection under a control: line in Gb/s, idle round trip and times in us, windows in packets.

    network: the longest idle round trip there, its own unless said.
    """

    def __init__(
        self,
        control: str,
        line: float,
        idle: float = 10,
        window: float = 1,
        wire_bytes: int = 1250,
        switches: int = 1,
        network: float = 0,
        **settings: Any,
    ) -> None:
        self.control = control
        self.row, self.table = np.zeros(1, CONNECTION), np.zeros(1, SETTINGS)
        self.row["control"], self.row["cwnd"], self.row["length"] = CODES[control], window * ONE, switches + 1
        self.row["payload"] = wire_bytes
        tables = {control: settings} if settings else {}
        chosen = Transport.model_validate({"control": control, **tables}).control_settings
        for name, value in chosen.numbers().items():
            self.table["controls"][control][name] = value
        network_ps = round((network or idle) * US)
        self.hear(START, 0, round(line * GBPS), round(idle * US), network_ps, wire_bytes)

    def hear(self, kind: int, now: float = 0, a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> int:
        """An event at `now` us; what a sending answers (the gap in ps)."""
        answer = np.zeros(1, "i8")
        play(self.row, self.table, kind, round(now * US), a, b, c, d, answer)
        return int(answer[0])

    def round_trip(self, now: float, rtt: float, gained: int = 1, marked: int = 0, outstanding: int = 0) -> None:
        """An ACK of a packet that was sent `rtt` us ago; a round ends with each."""
        self.row["acked"] += gained
        self.row["next"] = self.row["acked"]
        self.hear(ROUND_TRIP, now, gained, marked, round(rtt * US), outstanding)

    def state(self, name: str) -> int:
        return int(self.row[self.control][name][0])

    @property
    def gbps(self) -> float:
        return self.state("rate") / GBPS

    @property
    def window(self) -> float:
        """Its window in packets, as the core heeds it."""
        return float(self.row["cwnd"][0]) / ONE
