"""Flow control and what it does to others: go-back-N under spraying, pauses with and without windows, headroom."""

from collections.abc import Iterator
from typing import Any

from netsim.result import Result
from netsim.simulation import simulate
from netsim.transport.presets import PAPER_2015
from netsim.validate.bench import FULL, LOSSLESS, fat_tree, incast, last_ack_us, matrix, permutation, star
from netsim.validate.nouns import Figure, at_least, between, exactly, near, said

MIB = 1 << 20


def go_back_n_meets_spray(full: bool) -> Iterator[Figure]:
    """V9: RoCE with PFC (50/60 packets of 4,000 bytes), a permutation of 16 hosts with 2 MB each."""
    pfc = {"xoff": 60 * 4000, "xon": 50 * 4000}
    trace, fabric = matrix(16, permutation(16, 1, apart=4), 2_000_000), fat_tree(4, pfc=pfc, **LOSSLESS)

    def run(routing: Any, recovery: str = "go_back_n") -> Result:
        transport = {"control": "none", "recovery": recovery, "go_back_n": {"naks": "every"}}
        packet = {"payload": "3936B", "header": "64B"}
        return simulate(trace, fabric, transport=transport, routing=routing, packet=packet)

    in_turn = {"kind": "spray", "order": "round_robin"}
    ecmp, sprayed, adaptive, repeat = run("ecmp"), run(in_turn), run("adaptive"), run(in_turn, "selective_repeat")
    again = {
        name: each.summary["retransmitted_packets"] * 4000 / 1e6
        for name, each in zip("esar", (ecmp, sprayed, adaptive, repeat), strict=True)
    }
    yield exactly("ECMP: packets retransmitted", 0, ecmp.summary["retransmitted_packets"])
    yield at_least("per packet in turn: MB retransmitted (403), many times the data", 5 * 32, again["s"], " MB")
    ratio = last_ack_us(sprayed) / last_ack_us(ecmp)
    yield near("per packet in turn: times slower than ECMP (3066 / 346 us)", 9, ratio, 0.10)
    yield between("selective repeat: MB retransmitted", 0, 1, again["r"], " MB")
    yield between("selective repeat: times ECMP's", 0.4, 1.0, last_ack_us(repeat) / last_ack_us(ecmp))


def dcqcn_and_windows(full: bool) -> Iterator[Figure]:
    """V17: 255 hosts send to one: pauses under DCQCN alone, none if a window bounds what is under way (HPCC#14).

    PAUSE at 121 KB of an ingress: what (32 MB - used) / 8 comes to when all 255 ports hold that.
    """
    senders, size = 255, 500_000
    ecn = {"kmin": "400KB", "kmax": "1600KB", "pmax": 0.2}  # HPCC's run.py: 100 and 400 KB at 25 Gb/s, scaled
    fabric = star(senders + 1, pfc={"xoff": 121_000, "xon": 118_000}, buffer="unlimited", ecn=ecn)
    window = 100 * 10**9 * 5 // 8 // 10**6 // FULL + 1  # two links there, two back, and some packets: 5 us

    def run(**transport: Any) -> Result:
        transport = {"control": "dcqcn", "dcqcn": PAPER_2015} | transport
        return simulate(matrix(senders + 1, incast(senders), size), fabric, transport=transport)

    alone, bounded = run(), run(window=window)
    yield at_least("DCQCN alone: pauses", 1, alone.summary["pauses"])
    yield exactly(f"DCQCN with a window of {window} packets: pauses", 0, bounded.summary["pauses"])
    yield exactly("drops", 0, alone.summary["drops"] + bounded.summary["drops"])


def headroom(full: bool) -> Iterator[Figure]:
    """2 d R + 2 MTU and the packet being sent come after the pause: with room for them nothing is ever dropped."""
    for control_class in ("strict", "shared"):
        common = {"buffer": "unlimited", "control_class": control_class}
        runs = [_incast_at_line_rate(pfc, common) for pfc in ("on", {"xoff": 4 * FULL, "xon": FULL, "headroom": 0})]
        with_it, without = runs
        yield exactly(f"{control_class}: drops with headroom", 0, with_it.summary["drops"])
        yield at_least(f"{control_class}: pauses with headroom", 1, with_it.summary["pauses"])
        lossy = without.links[without.links["drops"] > 0]
        where = ", ".join(f"{row['source']}->{row['target']}" for _, row in lossy.head(2).iterrows())
        got = f"{lossy['drops'].sum():,} at {where}"
        yield said(f"{control_class}: drops without headroom", "some, and where", got, len(lossy) > 0)


def _incast_at_line_rate(pfc: Any, fields: dict[str, Any]) -> Result:
    transport = {"control": "none", "retries": 1000}
    return simulate(matrix(16, incast(15), MIB), fat_tree(4, pfc=pfc, **fields), transport=transport)


def shared_buffer(full: bool) -> Iterator[Figure]:
    """Choudhury and Hahne 1998: n congested ports of a shared buffer hold n alpha / (1 + n alpha) of it, no more."""
    size = 600 * FULL
    for alpha in (0.125, 1.0):
        for ports in (1, 4):
            pairs = [(15 - (3 * port + k), port) for port in range(ports) for k in range(3)]
            fabric = star(16, ecn="off", shared_buffer={"size": size, "alpha": alpha})
            result = simulate(matrix(16, pairs, 4 * MIB), fabric, transport="none")
            share = size * ports * alpha / (1 + ports * alpha)
            held = result.summary["max_shared_buffer_bytes"]
            name = f"{ports} congested port{'s' if ports > 1 else ''}, alpha {alpha:g}: held, to a packet a port"
            yield between(name, (share - ports * FULL) / 1e3, (share + ports * FULL) / 1e3, held / 1e3, " KB")
            longest, most = int(result.links["max_queue_bytes"].max()), size * alpha / (1 + alpha)
            yield between("longest queue: alpha / (1 + alpha) at most", 0, most / 1e3, longest / 1e3, " KB")


def dcqcn_thresholds(full: bool) -> Iterator[Figure]:
    """Zhu et al., SIGCOMM 2015, section 4, on a switch of 32 ports at 40 Gb/s with 12 MB for 8 priorities.

    PFC from 24.47 KB of an ingress on, with 22.4 KB of headroom, keeps all that one priority may hold within an eighth
    of the buffer and drops nothing; with ECN from 21.75 KB on, senders slow down before that, but for the first burst.
    """
    pfc = {"xoff": "24.47KB", "xon": "21.47KB", "headroom": "22.4KB"}
    mtu = {"payload": "1436B", "header": "64B"}

    def run(senders: int, control: str, ecn: Any) -> Result:
        fabric = star(32, rate="40Gb/s", delay="500ns", buffer="unlimited", pfc=pfc, ecn=ecn)
        transport = {"control": control, "dcqcn": PAPER_2015, "retries": 1000}
        return simulate(matrix(senders + 1, incast(senders), MIB), fabric, transport=transport, packet=mtu)

    line_rate = run(31, "none", "off")
    held = int(line_rate.links["max_queue_bytes"].max()) / 1e3
    yield exactly("31 senders at line rate: drops", 0, line_rate.summary["drops"])
    yield between("31 senders at line rate: held, within the priority's share", 31 * 24.47, 12_000 / 8, held, " KB")
    step = {"kmin": "21.75KB", "kmax": "21.75KB"}
    unmarked, marked = (run(2, "dcqcn", ecn).summary["pauses"] for ecn in ("off", step))
    yield at_least("two senders, DCQCN: pauses without ECN, over those with ECN", 10, unmarked / max(1, marked))
