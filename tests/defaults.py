"""Defaults, constants and presets written by hand, each with its source; `test_defaults.py` compares netsim's."""

from typing import Any

from netsim.queues.disciplines.red import NO_ECN
from netsim.transport.registry import REGISTRY
from netsim.units import UNLIMITED

NS, US = 10**3, 10**6  # ps
MBPS, GBPS = 10**6, 10**9  # bit/s
OWN = object()  # what the model itself has
Rows = dict[str, tuple[Any, str]]

NIC = "NVIDIA, DCQCN CC Parameters (DOCA 3.4); mlxconfig query"
HTSIM = "htsim's fabric: 100 Gb/s, 1 us, 100 packets of 4160 bytes"
UET = "uet-htsim 40ccb052, the UEC sender"
CSG = "csg-htsim 841d9e7, the Swift sender"
DESIGN = "this project's own choice"


def by(source: str, **values: Any) -> Rows:
    """What one source says."""
    return {name: (value, source) for name, value in values.items()}


def own(*names: str) -> Rows:
    """Tables that are models themselves."""
    return dict.fromkeys(names, (OWN, ""))


DEFAULTS: dict[str, Rows] = {
    "DctcpSettings": by("DCTCP (SIGCOMM 2010), section 4", gain=1 / 16),
    "DcqcnSettings": {
        "g": (5 / 1024, f"{NIC}: DCE_TCP_G 1019 of 1024"),
        "alpha_timer": (1 * US, f"{NIC}: DCE_TCP_RTT"),
        "increase_timer": (300 * US, f"{NIC}: RPG_TIME_RESET"),
        "byte_counter": (2_097_088, f"{NIC}: RPG_BYTE_RESET 32767, of 64 bytes"),
        "fast_recovery": (1, f"{NIC}: RPG_THRESHOLD"),
        "ai": (8 * MBPS, f"{NIC}: RPG_AI_RATE 5 Mb/s, at 25 Gb/s (HPCC, run.py); here at 40"),
        "hai": (80 * MBPS, f"{NIC}: RPG_HAI_RATE 50 Mb/s, likewise"),
        "min_rate": (1 * MBPS, f"{NIC}: RPG_MIN_RATE"),
        "clamp_tgt_rate": (False, f"{NIC}: CLAMP_TGT_RATE"),
        "cnp_interval": (4 * US, f"{NIC}: MIN_TIME_BETWEEN_CNPS"),
    },
    "TimelySettings": by("TIMELY (SIGCOMM 2015), section 5", alpha=0.875, beta=0.8, delta=10 * MBPS)
    | {
        "beta_patched": (0.008, "CoNEXT 2016, section 4.3"),
        "t_low": ("auto", "50 us over 20 us of round trip: TIMELY, section 5"),
        "t_high": ("auto", "500 us over 20 us of round trip"),
        "hai": (5, "TIMELY, algorithm 1: N"),
        "hai_after": (5, "TIMELY, algorithm 1: five in a row"),
        "least": (1000, DESIGN),
        "patched": (True, "CoNEXT 2016: the rule of 2015 has no fixed point"),
    },
    "SwiftSettings": by(CSG, fs_max_cwnd=100, ai=1, beta=0.8, max_mdf=0.5)
    | by(DESIGN, min_cwnd=0.001, max_cwnd="auto")
    | {
        "base_target": ("auto", f"{CSG}: 20 us, for a round trip that may be longer"),
        "hop_scale": (round(20_000 / 6.55) * NS, f"{CSG}: base target / 6.55"),
        "fs_range": (100 * US, f"{CSG}: five base targets"),
        "fs_min_cwnd": (0.1, f"{CSG}; Swift (SIGCOMM 2020), section 3.5"),
        "retx_reset_threshold": (5, "Swift, algorithm 1"),
    },
    "HpccSettings": {
        "eta": (0.95, "HPCC (SIGCOMM 2019), section 3.3"),
        "max_stage": (0, "HPCC's ns-3 model, results page: 5 is a typo"),
        "ai": (10 * MBPS, "HPCC's ns-3 model, run.py, at 25 Gb/s"),
        "least": (1000, DESIGN),
    },
    "NsccSettings": by(UET, target_qdelay="auto", alpha=4.0, fi=5.0, eta=0.15, gamma=0.8, max_md=0.5)
    | by(UET, delay_alpha=0.0125, fi_scale=0.25, fast_below=1 * US)
    | {
        "base_rtt": ("auto", f"{UET}, main_uec.cpp: the longest path's"),
        "target_share": (1.0, f"{UET}: a base RTT without trimming"),
        "max_window": (1.5, f"{UET}: of the connection's own bandwidth-delay product"),
        "qa_threshold": (4, f"{UET}: target queueing delays"),
        "qa_gate": (3, f"{UET}: an eighth of the widest window"),
        "adjust_after": (8, f"{UET}: packets"),
    },
    "Trim": {
        "last": (0.5, "NDP (SIGCOMM 2017), section 3.1: with probability 50 %; uet-htsim, compositequeue.cpp"),
        "marking": ("dequeue", 'uet-htsim, compositequeue.cpp: "ECN mark on deque"'),
    },
    "NdpSettings": by("csg-htsim 841d9e7, NDP's pull pacer", share=0.99),
    "GoBackN": by("InfiniBand: one NAK until the gap is closed", naks="once"),
    "SelectiveRepeat": by(DESIGN, window="auto") | by("RFC 5681, three duplicate ACKs", reordering="auto"),
    "ControlSettings": {},
    "ControlTables": own(*(name for name, control in REGISTRY.items() if control.has_settings)),
    "Transport": by(DESIGN, preset=None, control="dctcp", timeout="auto", window="bdp")
    | by("InfiniBand's reliable connection", recovery="go_back_n")
    | by("InfiniBand's largest retry count; NCCL_IB_RETRY_CNT", retries=7)
    | own("go_back_n", "selective_repeat"),
    "Ecn": {
        "kmin": (83_200, "UEC NSCC: 0.2 of a queue of 416,000 bytes"),
        "kmax": (332_800, "UEC NSCC: 0.8 of it"),
        "pmax": (1.0, "uet-htsim"),
        "rate": (None, DESIGN),
    },
    "Pfc": {
        "xoff": (61_440, "htsim's RoCE: 15 packets of 4096 bytes"),
        "xon": (49_152, "htsim's RoCE: 12 packets"),
        "headroom": (None, "computed (IEEE 802.1Qbb)"),
    },
    "SharedBuffer": by(DESIGN, alpha=1.0),
    "Codel": {
        "target": (5 * US, "RFC 8289, section 4.3: 5 to 10 % of the interval"),
        "interval": (100 * US, "RFC 8289, section 4.2: a long round trip; its 100 ms are the Internet's"),
    },
    "_Queues": {},
    "Drr": {"quantum": (4160, "a full packet of 4096 + 64 bytes (SIGCOMM 1995, section 3)")},
    "Queues": by(DESIGN, codel=None, drr=None),
    "KernelSettings": {},
    "Topology": by(DESIGN, kind="", name="", control_class="strict", pfc=None, trim=None, shared_buffer=None, loss=0.0)
    | by(HTSIM, rate=100 * GBPS, delay=1 * US, buffer=416_000)
    | own("ecn", "queue"),
    "Override": by(DESIGN, rate=None, delay=None, buffer=None, ecn=None, loss=None),
    "FatTree": by(DESIGN, kind="fat_tree")
    | by("Al-Fares et al. (SIGCOMM 2008): full bisection", tiers=3, oversubscription=1)
    | own("tor", "agg", "core"),
    "LeafSpine": by(DESIGN, kind="leaf_spine") | own("leaf", "spine"),
    "RailOptimized": by(DESIGN, kind="rail_optimized", oversubscription=1)
    | by("DGX H100", gpus_per_server=8)
    | own("nvlink", "nic", "spine"),
    "NvLink": {
        "rate": (3_600 * GBPS, "NVLink 4: 450 GB/s each way"),
        "delay": (300 * NS, DESIGN),
        "buffer": (UNLIMITED, "credits lose nothing"),
        "ecn": (NO_ECN, "NVLink marks nothing"),
        "loss": (0.0, "NVLink retransmits link by link"),
    },
    "HtsimTree": by(DESIGN, kind="htsim", core=None),
    "Tier": by("htsim's .topo files", radix_up=0, bundle=1, switch_latency=0, oversubscribed=None)
    | by("htsim's .topo files", downlink_speed=None, downlink_latency=None, queue_down=None, queue_up=None),
    "Routing": by(DESIGN, kind="") | by("NCCL 2.12: NCCL_PXN_DISABLE 0", pxn=True),
    "Ecmp": {
        "kind": ("ecmp", DESIGN),
        "queue_pairs": (1, "NCCL_IB_QPS_PER_CONNECTION"),
        "spread": ("round_robin", "NCCL_IB_SPLIT_DATA_ON_QPS 0"),
    },
    "Single": by(DESIGN, kind="single"),
    "PerPacket": {},
    "Spray": by(DESIGN, kind="spray", order="random"),
    "Flowlet": by(DESIGN, kind="flowlet", slots=4096)
    | by("ConWeave (SIGCOMM 2023), its ns-3 model of LetFlow at 100 Gb/s", gap=100 * US),
    "Adaptive": by(DESIGN, kind="adaptive"),
    "Reps": by(DESIGN, kind="reps") | by("REPS: 16 bits of the UDP source port", entropies=65_536),
    "Packet": by("InfiniBand's largest MTU", payload=4096)
    | by("htsim's RoCE: 64 bytes", header=64, ack=64)
    | by("within 2 % of 4096 at 3.6 Tb/s, 300 ns", scale_up_payload=8192),
    "Nic": by("exact", jitter=0.0),
    "Placement": by(DESIGN, kind="packed", order=()),
    "Scenario": by(DESIGN, algorithms={}, channels=None, chunk=None, seed=1)
    | own("packet", "nic", "transport", "routing", "placement", "classes"),
    "Classes": by(DESIGN, by_group={}, by_operation={}),
    "Picture": by(DESIGN, title="", x="", lines=(), y="completion_time_ps"),
    "Prices": by(DESIGN, currency="", optical=None)
    | by("netsim knows no prices", switch=0.0, port=0.0, cable=0.0, optic=0.0),
}

CONSTANTS: Rows = {
    "transport.settings:IB_ACK_TIMEOUT_10_PS": (4_194_304 * NS, "InfiniBand: 4.096 us * 2^10"),
    "transport.settings:IB_ACK_TIMEOUT_14_PS": (67_108_864 * NS, "InfiniBand: 4.096 us * 2^14; perftest"),
    "transport.settings:IB_RETRIES": (7, "InfiniBand: three bits"),
    "transport.settings:TCP_DUPLICATES": (3, "RFC 5681, section 3.2"),
    "routing.ecmp:MOST_QUEUE_PAIRS": (128, "NCCL: NCCL_IB_QPS_PER_CONNECTION"),
    "config.traffic_classes:HIGHEST": (7, "IEEE 802.1Q: eight priorities"),
    "transport.controls.dcqcn:REFERENCE_MBPS": (40_000, "DCQCN (SIGCOMM 2015), section 5: 40 Gb/s"),
    "transport.controls.timely:REFERENCE_MBPS": (10_000, "TIMELY (SIGCOMM 2015), section 5: 10 Gb/s"),
    "transport.controls.timely:LOW": (round(50 / 20 * 65536), "TIMELY, section 5: 50 us over a round trip of 20 us"),
    "transport.controls.timely:HIGH": (round(500 / 20 * 65536), "TIMELY, section 5: 500 us"),
    "transport.controls.swift:BASE_PS": (20 * US, CSG),
    "core.flows.connections:SPREAD": (256, DESIGN),
    "transport.controls.hpcc:REFERENCE_MBPS": (25_000, "HPCC's run.py: 25 Gb/s"),
    "transport.controls.nscc:REFERENCE_MBPS": (100_000, f"{UET}: 100 Gb/s"),
    "transport.controls.nscc:REFERENCE_RTT_PS": (12 * US, f"{UET}: 12 us"),
    "topology.pfc:PACKETS_IN_FLIGHT": (3, "IEEE 802.1Qbb: 2 MTU and the packet being sent"),
    "topology.blueprint:FULL_PACKET": (4160, HTSIM),
    "config.preset_defaults:RESUME": (0.8, "htsim's RoCE: 12 of 15 packets"),
    "core.state.link_classes:HEADERS": (2, "htsim's NDP queue"),
    "collectives.ring:RING_CHUNK": (1 << 20, "NCCL's Simple protocol"),
    "collectives.ring:CHAIN_CHUNK": (1 << 19, "NCCL's Simple protocol"),
    "collectives.tree:TREE_CHUNK": (1 << 19, "NCCL's Simple protocol"),
    "collectives.request:MIN_TRAFFIC_PER_CHANNEL": (1 << 15, "NCCL 2.23, enqueue.cc"),
}

PFC = "port buffer"
LOSSLESS = {
    "ecn": {"kmin": "100KB", "kmax": "400KB", "pmax": 0.2, "rate": "25Gb/s"},  # HPCC's run.py
    "buffer": "kmax",
    "pfc": PFC,
}
DCQCN_2015 = {  # SIGCOMM 2015, section 5
    "g": 0.00390625,
    "alpha_timer": "55us",
    "increase_timer": "55us",
    "byte_counter": "10MB",
    "fast_recovery": 5,
    "ai": "40Mb/s",
    "hai": "400Mb/s",
    "min_rate": "40Mb/s",
    "clamp_tgt_rate": True,
    "cnp_interval": "50us",
}
ECN_2015 = {"kmin": "5KB", "kmax": "200KB", "pmax": 0.01, "rate": "40Gb/s"}
ECMP = {"kind": "ecmp"}
GO_BACK_N = {"recovery": "go_back_n"}
PRESETS_BY_HAND: dict[str, tuple[Any, Any, Any]] = {
    "roce": ({"control": "dcqcn"} | GO_BACK_N, ECMP, LOSSLESS),
    "roce-2015": (
        {"control": "dcqcn", "dcqcn": DCQCN_2015} | GO_BACK_N,
        ECMP,
        {"ecn": ECN_2015, "buffer": "1600KB", "pfc": PFC},
    ),
    "roce-no-cc": ({"control": "none"} | GO_BACK_N, ECMP, LOSSLESS),
    "uec": (
        {"control": "nscc", "recovery": "selective_repeat", "nscc": {"target_share": 0.75}},
        {"kind": "spray"},
        {"trim": True},
    ),
    "dctcp": ({"control": "dctcp"} | GO_BACK_N, ECMP, {}),
    "hpcc": ({"control": "hpcc"} | GO_BACK_N, ECMP, {"pfc": PFC}),
    "ideal": (
        {"control": "none", "recovery": "selective_repeat", "selective_repeat": {"reordering": 1 << 30}},
        {"kind": "spray", "order": "round_robin"},
        {"buffer": "unlimited", "ecn": "off"},
    ),
}
