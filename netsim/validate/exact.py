"""htsim's RoCE with PFC, which netsim reproduces: to the picosecond where nothing depends on hashing.

Runs of csg-htsim 841d9e7 and spcl/HTSIM 8a33f33: 100 Gb/s, 1 us per link, packets of 4096 + 64 bytes, ACKs of 64,
senders at line rate, one FIFO for data and ACKs in switches, PAUSE above 15 * 4096 bytes and RESUME below 12 * 4096.
"""

from collections.abc import Iterator

from netsim.result import Result
from netsim.simulation import simulate
from netsim.validate.bench import (
    FULL,
    HTSIM_PFC,
    LOSSLESS,
    PS_PER_BYTE,
    US,
    Pair,
    fat_tree,
    incast,
    last_data_ps,
    matrix,
)
from netsim.validate.nouns import Figure, at_least, between, exactly

MIB = 1 << 20
PORTS = {16: 4, 128: 8, 1024: 16}  # of the switches of a fat tree with so many hosts
SIZES = {16: 64 * MIB, 128: 8 * MIB, 1024: 2 * MIB}
PACKET_PS, ACK_PS = FULL * PS_PER_BYTE, 64 * PS_PER_BYTE


def _run(hosts: int, pairs: list[Pair], size: int, seed: int = 1) -> Result:
    fabric = fat_tree(PORTS[hosts], pfc=HTSIM_PFC, **LOSSLESS)
    return simulate(matrix(hosts, pairs, size), fabric, transport="none", seed=seed)


def roce_incast(full: bool) -> Iterator[Figure]:
    """All others send to host 0: n packets, then one more and the last link, whatever is paused meanwhile."""
    for hosts, published in {16: 81_791_260_800, 128: 86_562_281_600}.items():
        result = _run(hosts, incast(hosts - 1), SIZES[hosts])
        yield exactly(f"incast{hosts}: last data", published, last_data_ps(result), " ps")
        yield at_least(f"incast{hosts}: pauses", 1, result.summary["pauses"])


def roce_ring(full: bool) -> Iterator[Figure]:
    """Everybody sends to the next: ACKs share each host's link. 64 more bytes per packet, and a constant."""
    published = {16: 5_544_109_440, 128: 699_688_320} | ({1024: 180_640_000} if full else {})
    for hosts, expected in published.items():
        result = _run(hosts, [(s, (s + 1) % hosts) for s in range(hosts)], SIZES[hosts])
        off_ns = abs(last_data_ps(result) - expected) / 1000
        yield between(f"ring{hosts}: last data off {expected / US:,.2f} us", 0, 100, off_ns, " ns")


def roce_permutation(full: bool) -> Iterator[Figure]:
    """Hosts half the fabric apart: hashing puts 3 to 6 flows on one link, which is then that many times slower."""
    for hosts, published in ({16: 16533.22, 128: 2982.90} | ({1024: 1035.27} if full else {})).items():
        pairs = [(s, (s + hosts // 2) % hosts) for s in range(hosts)]
        size = SIZES[hosts] // (1 if full else 8)
        slower = [_times_alone(last_data_ps(_run(hosts, pairs, size, seed)) / US, size) for seed in SEEDS]
        flows = [round(each) for each in slower]
        theirs = round(_times_alone(published, SIZES[hosts]))
        name = f"perm{hosts}: flows on the fullest link, htsim's among ours by {len(flows)} seeds"
        yield between(name, min(flows), max(flows), theirs)


def roce_all_to_all(full: bool) -> Iterator[Figure]:
    """Everybody sends to everybody: every link is shared by many flows, so hashing evens out."""
    sizes = {16: 4 * MIB // (1 if full else 16), 128: 64 * 1024}  # short flows share links differently
    for hosts, published in {16: 7190.27, 128: 1014.64}.items():
        every = range(hosts)
        pairs = [(s, (s + r) % hosts) for r in range(1, hosts) for s in every]
        whole = {16: 4 * MIB, 128: 64 * 1024}[hosts]
        line = (hosts - 1) * PACKET_PS / 4096 / US  # us per byte of each pair, at line rate
        slower = [
            last_data_ps(_run(hosts, pairs, sizes[hosts], seed)) / US / (sizes[hosts] * line) for seed in range(1, 13)
        ]
        name = f"a2a{hosts}: htsim's time over the line's, among ours by {len(slower)} seeds"
        yield between(name, min(slower), max(slower), published / (whole * line))


SEEDS = range(1, 7)
EMPTY_US = 6 + 5 * PACKET_PS / US  # six links, and a packet on five of them


def _times_alone(taken_us: float, size: int) -> float:
    """What six links take besides sending the packets is the same for long and short flows: it is left out."""
    return (taken_us - EMPTY_US) / (size // 4096 * PACKET_PS / US)
