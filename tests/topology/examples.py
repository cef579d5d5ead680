"""An example of every kind of topology: what holds for all, and for routes through them, is tried on these."""

from netsim.topology import FatTree, HtsimTree, LeafSpine, RailOptimized, Topology

G = 10**9
EXAMPLES: dict[str, tuple[Topology, dict[str, int], int]] = {  # blueprint, some counts, bisection
    "fat_tree": (FatTree(k=4), {"hosts": 16, "switches": 20, "links": 96}, 8 * 100 * G),
    "fat_tree 2 to 1": (FatTree(k=8, oversubscription=2), {"hosts": 128, "switches.core": 8}, 32 * 100 * G),
    "fat_tree 2 tiers": (FatTree(k=4, tiers=2), {"hosts": 8, "switches": 6, "links": 32}, 4 * 100 * G),
    "leaf_spine": (LeafSpine(leaves=4, spines=2, hosts_per_leaf=8), {"hosts": 32, "links": 80}, 2 * 2 * 100 * G),
    "rail_optimized": (RailOptimized(servers=4), {"hosts": 32, "servers": 4, "switches.spine": 4}, 16 * 100 * G),
    "htsim": (
        HtsimTree(
            nodes=16,
            podsize=4,
            tor={"radix_down": 2, "radix_up": 2},
            agg={"radix_down": 2, "radix_up": 1},
            core={"radix_down": 4},
        ),
        {"hosts": 16, "switches.core": 2, "links.core": 16},
        4 * 100 * G,
    ),
    "rail_optimized 2 to 1": (
        RailOptimized(servers=4, gpus_per_server=2, oversubscription=2),
        {"hosts": 8, "switches": 8, "links.spine": 8, "links.nvlink": 16, "links.rail": 16},
        4 * 100 * G,
    ),
}
