"""Presets: whole transports by one name, written as a scenario file would write them.

A preset only fills in what nobody has set. `transport`, `routing` and `nic` are tables of a scenario; `topology` are
fields that any topology has. This page holds names and texts only: `netsim.config` lays them under a scenario.
"""

from dataclasses import dataclass, field
from typing import Any

PORT_BUFFER = "port buffer"  # flow control that begins where a port's buffer is used up, so that nothing is dropped
KMAX = "kmax"  # a buffer as large as ECN's kmax at the rate of the topology's links

# DCQCN's parameters of SIGCOMM 2015, section 5 (its tables 2 to 4), at 40 Gb/s; Dcqcn's own defaults are today's NICs.
PAPER_2015 = {
    "g": 1 / 256,
    "alpha_timer": "55us",
    "increase_timer": "55us",
    "byte_counter": "10MB",
    "fast_recovery": 5,
    "ai": "40Mb/s",
    "hai": "400Mb/s",
    "min_rate": "40Mb/s",  # the paper names none
    "clamp_tgt_rate": True,
    "cnp_interval": "50us",
}
ECN_2015 = {"kmin": "5KB", "kmax": "200KB", "pmax": 0.01, "rate": "40Gb/s"}  # the same section
# There 12 MB behind 32 ports, of which a port may hold eight times what is free: marks come long before pauses.
# Above 320 Gb/s, where kmax would be more than that, the thresholds stay at its share.
BUFFER_2015 = "1600KB"
# Vendors' thresholds as the simulations of HPCC (SIGCOMM 2019) scale them: 400 and 1600 KB at 100 Gb/s. A port may hold
# as much as kmax, so that marks come before pauses (DCQCN, section 4): 1.6 MB at 100 Gb/s, as there (32 MB, 20 ports).
# Switches ship other ones, for any rate: SONiC (AZURE_LOSSLESS) marks from 1 to 2 MiB up to 5 %, Cumulus up to 1.5 MB.
ROCE_SWITCH = {
    "ecn": {"kmin": "100KB", "kmax": "400KB", "pmax": 0.2, "rate": "25Gb/s"},
    "buffer": KMAX,
    "pfc": PORT_BUFFER,
}


@dataclass(frozen=True)
class Preset:
    """What a preset is, in a line, and what it fills in."""

    what: str
    transport: dict[str, Any]
    routing: dict[str, Any] = field(default_factory=lambda: {"kind": "ecmp"})
    topology: dict[str, Any] = field(default_factory=dict)
    nic: dict[str, Any] = field(default_factory=lambda: {"jitter": 1.0})  # of hardware


PRESETS = {
    "roce": Preset(
        "RoCEv2 as NICs and switches are set today: DCQCN over PFC, go-back-N, ECMP (the default)",
        {"control": "dcqcn", "recovery": "go_back_n"},
        topology=ROCE_SWITCH,
    ),
    "roce-2015": Preset(
        "RoCEv2 with the constants of the DCQCN paper (SIGCOMM 2015, 40 Gb/s), which are slow at 100 Gb/s and more",
        {"control": "dcqcn", "recovery": "go_back_n", "dcqcn": PAPER_2015},
        topology={"ecn": ECN_2015, "buffer": BUFFER_2015, "pfc": PORT_BUFFER},
    ),
    "roce-no-cc": Preset(
        "RoCEv2 without congestion control: line rate over PFC alone, go-back-N, ECMP",
        {"control": "none", "recovery": "go_back_n"},
        topology=ROCE_SWITCH,
    ),
    "uec": Preset(
        "Ultra Ethernet: NSCC, switches that trim, selective repeat, packet spraying",
        {"control": "nscc", "recovery": "selective_repeat", "nscc": {"target_share": 0.75}},  # uet-htsim, if it trims
        routing={"kind": "spray"},
        topology={"trim": True},
    ),
    "dctcp": Preset(
        "a lossy Ethernet with ECN: DCTCP, go-back-N, ECMP",
        {"control": "dctcp", "recovery": "go_back_n"},
    ),
    "hpcc": Preset(
        "HPCC with its telemetry over PFC, go-back-N, ECMP",
        {"control": "hpcc", "recovery": "go_back_n"},
        topology={"pfc": PORT_BUFFER},
    ),
    "ideal": Preset(
        "line rate into queues without limits, packets sprayed in turn: what a network can do at best",
        {"control": "none", "recovery": "selective_repeat", "selective_repeat": {"reordering": 1 << 30}},
        routing={"kind": "spray", "order": "round_robin"},
        topology={"buffer": "unlimited", "ecn": "off"},
        nic={"jitter": 0.0},
    ),
}
DEFAULT_PRESET = "roce"


def preset_named_by(transport: dict[str, Any]) -> str | None:
    """The preset that a table [transport] starts from: the one it names; none if it sets a control alone."""
    named: str | None = transport.get("preset")
    return DEFAULT_PRESET if named is None and "control" not in transport else named


def laid_under(given: dict[str, Any], preset: dict[str, Any]) -> dict[str, Any]:
    """What is given, and below it what the preset says; tables are joined."""
    joined = {
        key: {**preset[key], **value} if isinstance(value, dict) and isinstance(preset.get(key), dict) else value
        for key, value in given.items()
    }
    return preset | joined
