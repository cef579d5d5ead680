"""The scenarios in which htsim was measured, and what it measured.

Source: htsim (Broadcom/csg-htsim, commit 841d9e7, and spcl/HTSIM, commit 8a33f33), its RoCE model with PFC, compiled
with -O3, one core of a machine with 2 virtual CPUs. Hops and times are exact and repeat; speeds are hops over the best
wall time of the whole process, +-15 %. With tcmalloc htsim is about 15 % faster.
"""

from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20
PAYLOAD, WIRE, ACK = 4096, 4160, 64  # bytes; every message is a multiple of the payload
PS_PER_BYTE, LINK_PS = 80, 1_000_000  # 100 Gb/s, 1 us

Flow = tuple[int, int, int]  # source, target, bytes


@dataclass(frozen=True)
class Scenario:
    """Flows that all start at t = 0 on a full-bisection fat tree, and htsim's figures; None where one is not known."""

    pattern: str
    hosts: int
    bytes_per_flow: int
    hops: int  # data and control
    mega_hops_per_second: float
    last_data_us: float | None
    megabytes: int | None

    @property
    def name(self) -> str:
        """For instance "ring128"."""
        return f"{self.pattern}{self.hosts}"

    @property
    def topology(self) -> str:
        """The built-in fat tree of so many hosts."""
        return {16: "fat_tree_k4_100g", 128: "fat_tree_k8_100g", 1024: "fat_tree_k16_100g"}[self.hosts]

    def flows(self) -> list[Flow]:
        """Who sends how much to whom."""
        every, n, size = range(self.hosts), self.hosts, self.bytes_per_flow
        if self.pattern == "perm":
            return [(s, (s + n // 2) % n, size) for s in every]
        if self.pattern == "ring":
            return [(s, (s + 1) % n, size) for s in every]
        if self.pattern == "incast":
            return [(s, 0, size) for s in every if s]
        return [(s, (s + r) % n, size) for r in range(1, n) for s in every]

    def exact_last_data_ps(self) -> int | None:
        """When the last data packet arrives, where that depends on no hash; htsim agrees to the picosecond.

        Incast: the port of host 0 is never idle from the arrival of the first packet on. Ring: each host's link carries
        an ACK for each data packet, and the last flow crosses 6 links.
        """
        packets = self.bytes_per_flow // PAYLOAD
        if self.pattern == "incast":
            return ((self.hosts - 1) * packets + 1) * WIRE * PS_PER_BYTE + 2 * LINK_PS
        if self.pattern == "ring":
            return (packets * (WIRE + ACK) + 5 * WIRE - 7 * ACK) * PS_PER_BYTE + 6 * LINK_PS
        return None


SCENARIOS = (
    Scenario("perm", 16, 64 * MIB, 3_145_728, 2.05, 16_533.22, 6),
    Scenario("ring", 16, 64 * MIB, 1_835_008, 3.36, 5_544.11, 5),
    Scenario("incast", 16, 64 * MIB, 2_686_976, 2.42, 81_791.26, 5),
    Scenario("a2a", 16, 4 * MIB, 2_686_976, 1.71, 7_190.27, 40),
    Scenario("perm", 128, 8 * MIB, 3_145_728, 1.37, 2_982.90, 12),
    Scenario("ring", 128, 8 * MIB, 1_376_256, 2.01, 699.69, 10),
    Scenario("incast", 128, 8 * MIB, 2_973_696, 1.81, 86_562.28, 9),
    Scenario("a2a", 128, 64 * KIB, 2_973_696, 0.44, 1_014.64, 88),
    Scenario("perm", 1024, 2 * MIB, 6_291_456, 0.60, 1_035.27, 92),
    Scenario("ring", 1024, 2 * MIB, 2_392_064, 0.93, 180.64, 71),
    Scenario("incast", 1024, 1 * MIB, 3_070_976, 0.73, None, None),
    Scenario("a2a", 1024, 4 * KIB, 12_283_904, 0.06, None, 4_027),
)
