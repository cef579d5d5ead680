"""Defaults, constants and presets written by hand, each with its source; `test_defaults.py` compares netsim's."""

from __future__ import annotations

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

DEFAULTS: dict[str, Rows] = {
    "DctcpSettings": {"gain": (1 / 16, "DCTCP (SIGCOMM 2010), section 4")},
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
    "TimelySettings": {
        "alpha": (0.875, "TIMELY (SIGCOMM 2015), section 5"),
        "beta": (0.8, "TIMELY, section 5"),
        "beta_patched": (0.008, "CoNEXT 2016, section 4.3"),
        "t_low": ("auto", "50 us over 20 us of round trip: TIMELY, section 5"),
        "t_high": ("auto", "500 us over 20 us of round trip"),
        "delta": (10 * MBPS, "TIMELY, section 5"),
        "hai": (5, "TIMELY, algorithm 1: N"),
        "hai_after": (5, "TIMELY, algorithm 1: five in a row"),
        "least": (1000, DESIGN),
        "patched": (True, "CoNEXT 2016: the rule of 2015 has no fixed point"),
    },
    "SwiftSettings": {
        "base_target": ("auto", f"{CSG}: 20 us, for a round trip that may be longer"),
        "hop_scale": (3_053 * NS, f"{CSG}: base target / 6.55"),
        "fs_range": (100 * US, f"{CSG}: five base targets"),
        "fs_min_cwnd": (0.1, f"{CSG}; Swift (SIGCOMM 2020), section 3.5"),
        "fs_max_cwnd": (100, CSG),
        "ai": (1, CSG),
        "beta": (0.8, CSG),
        "max_mdf": (0.5, CSG),
        "min_cwnd": (0.001, DESIGN),
        "max_cwnd": ("auto", DESIGN),
        "retx_reset_threshold": (5, "Swift, algorithm 1"),
    },
    "HpccSettings": {
        "eta": (0.95, "HPCC (SIGCOMM 2019), section 3.3"),
        "max_stage": (0, "HPCC's ns-3 model, results page: 5 is a typo"),
        "ai": (10 * MBPS, "HPCC's ns-3 model, run.py, at 25 Gb/s"),
        "least": (1000, DESIGN),
    },
    "NsccSettings": {
        "base_rtt": ("auto", f"{UET}, main_uec.cpp: the longest path's"),
        "target_qdelay": ("auto", UET),
        "target_share": (1.0, f"{UET}: a base RTT without trimming"),
        "max_window": (1.5, f"{UET}: of the connection's own bandwidth-delay product"),
        "alpha": (4.0, UET),
        "fi": (5.0, UET),
        "eta": (0.15, UET),
        "gamma": (0.8, UET),
        "max_md": (0.5, UET),
        "delay_alpha": (0.0125, UET),
        "fi_scale": (0.25, UET),
        "fast_below": (1 * US, UET),
        "qa_threshold": (4, f"{UET}: target queueing delays"),
        "qa_gate": (3, f"{UET}: an eighth of the widest window"),
        "adjust_after": (8, f"{UET}: packets"),
    },
    "Trim": {
        "last": (0.5, "NDP (SIGCOMM 2017), section 3.1: with probability 50 %; uet-htsim, compositequeue.cpp"),
        "marking": ("dequeue", 'uet-htsim, compositequeue.cpp: "ECN mark on deque"'),
    },
    "NdpSettings": {"share": (0.99, "csg-htsim 841d9e7, NDP's pull pacer")},
    "GoBackN": {"naks": ("once", "InfiniBand: one NAK until the gap is closed")},
    "SelectiveRepeat": {
        "window": ("auto", DESIGN),
        "reordering": ("auto", "RFC 5681, three duplicate ACKs"),
    },
    "ControlSettings": {},
    "ControlTables": {name: (OWN, "") for name, control in REGISTRY.items() if control.has_settings},
    "Transport": {
        "preset": (None, DESIGN),
        "control": ("dctcp", DESIGN),
        "recovery": ("go_back_n", "InfiniBand's reliable connection"),
        "timeout": ("auto", DESIGN),
        "window": ("bdp", DESIGN),
        "retries": (7, "InfiniBand's largest retry count; NCCL_IB_RETRY_CNT"),
        **dict.fromkeys(("go_back_n", "selective_repeat"), (OWN, "")),
    },
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
    "SharedBuffer": {"alpha": (1.0, DESIGN)},
    "Topology": {
        "kind": ("", DESIGN),
        "name": ("", DESIGN),
        "rate": (100 * GBPS, HTSIM),
        "delay": (1 * US, HTSIM),
        "buffer": (416_000, HTSIM),
        "ecn": (OWN, ""),
        "control_class": ("strict", DESIGN),
        "pfc": (None, DESIGN),
        "trim": (None, DESIGN),
        "shared_buffer": (None, DESIGN),
        "loss": (0.0, DESIGN),
    },
    "Override": dict.fromkeys(("rate", "delay", "buffer", "ecn", "loss"), (None, DESIGN)),
    "FatTree": {
        "kind": ("fat_tree", DESIGN),
        "tiers": (3, "Al-Fares et al. (SIGCOMM 2008)"),
        "oversubscription": (1, "Al-Fares et al.: full bisection"),
        **dict.fromkeys(("tor", "agg", "core"), (OWN, "")),
    },
    "LeafSpine": {"kind": ("leaf_spine", DESIGN), "leaf": (OWN, ""), "spine": (OWN, "")},
    "RailOptimized": {
        "kind": ("rail_optimized", DESIGN),
        "gpus_per_server": (8, "DGX H100"),
        "oversubscription": (1, DESIGN),
        **dict.fromkeys(("nvlink", "nic", "spine"), (OWN, "")),
    },
    "NvLink": {
        "rate": (3_600 * GBPS, "NVLink 4: 450 GB/s each way"),
        "delay": (300 * NS, DESIGN),
        "buffer": (UNLIMITED, "credits lose nothing"),
        "ecn": (NO_ECN, "NVLink marks nothing"),
        "loss": (0.0, "NVLink retransmits link by link"),
    },
    "HtsimTree": {"kind": ("htsim", DESIGN), "core": (None, DESIGN)},
    "Tier": {
        "radix_up": (0, "htsim's .topo files"),
        "bundle": (1, "htsim's .topo files"),
        "switch_latency": (0, "htsim's .topo files"),
        **dict.fromkeys(
            ("downlink_speed", "downlink_latency", "queue_down", "queue_up", "oversubscribed"),
            (None, "htsim's .topo files"),
        ),
    },
    "Routing": {"kind": ("", DESIGN), "pxn": (True, "NCCL 2.12: NCCL_PXN_DISABLE 0")},
    "Ecmp": {
        "kind": ("ecmp", DESIGN),
        "queue_pairs": (1, "NCCL_IB_QPS_PER_CONNECTION"),
        "spread": ("round_robin", "NCCL_IB_SPLIT_DATA_ON_QPS 0"),
    },
    "Single": {"kind": ("single", DESIGN)},
    "PerPacket": {},
    "Spray": {"kind": ("spray", DESIGN), "order": ("random", DESIGN)},
    "Flowlet": {
        "kind": ("flowlet", DESIGN),
        "gap": (100 * US, "ConWeave (SIGCOMM 2023), its ns-3 model of LetFlow at 100 Gb/s"),
        "slots": (4096, DESIGN),
    },
    "Adaptive": {"kind": ("adaptive", DESIGN)},
    "Reps": {"kind": ("reps", DESIGN), "entropies": (65_536, "REPS: 16 bits of the UDP source port")},
    "Packet": {
        "payload": (4096, "InfiniBand's largest MTU"),
        "header": (64, "htsim's RoCE: 64 bytes"),
        "ack": (64, "htsim's RoCE: 64 bytes"),
        "scale_up_payload": (8192, "within 2 % of 4096 at 3.6 Tb/s, 300 ns"),
    },
    "Nic": {"jitter": (0.0, "exact")},
    "Placement": {"kind": ("packed", DESIGN), "order": ((), DESIGN)},
    "Scenario": {
        **dict.fromkeys(("packet", "nic", "transport", "routing", "placement", "classes"), (OWN, "")),
        "algorithms": ({}, DESIGN),
        "channels": (None, DESIGN),
        "chunk": (None, DESIGN),
        "seed": (1, DESIGN),
    },
    "Classes": {"by_group": ({}, DESIGN), "by_operation": ({}, DESIGN)},
    "Picture": {
        "title": ("", DESIGN),
        "x": ("", DESIGN),
        "lines": ((), DESIGN),
        "y": ("completion_time_ps", DESIGN),
    },
    "Prices": {
        "currency": ("", DESIGN),
        **dict.fromkeys(("switch", "port", "cable", "optic"), (0.0, "netsim knows no prices")),
        "optical": (None, DESIGN),
    },
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
    "core.state.build:HEADERS": (2, "htsim's NDP queue"),
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
