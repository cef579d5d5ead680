"""How a sender yields (congestion control, one file each) and what it retransmits (loss recovery).

To add a control: one file and one line in CONTROLS; see CONTRIBUTING.md. This page imports nothing, so that names are
listed at once.
"""

CONTROLS = {
    "none": "line rate: a sender never waits for acknowledgements",
    "window": "a fixed window of packets that may be on the way",
    "dctcp": "a window cut in proportion to the marked fraction of a round (SIGCOMM 2010)",
    "dcqcn": "a rate that congestion notifications cut and timers raise again (SIGCOMM 2015)",
    "timely": "a rate that follows the gradient of the round-trip time (SIGCOMM 2015, patched as in CoNEXT 2016)",
    "swift": "a window that holds the round trip at a target, below one packet by pacing (SIGCOMM 2020)",
    "hpcc": "a window that follows the fullest link, by what each says of itself (SIGCOMM 2019)",
    "nscc": "Ultra Ethernet's sender control: a window by ECN marks and queueing delay (UEC 1.0)",
    "ndp": "receiver-driven: a first window, then a packet for every pull, which receivers pace (SIGCOMM 2017)",
}
CODES = {name: code for code, name in enumerate(CONTROLS)}  # how a connection's row names its control
RECOVERIES = {
    "go_back_n": "packets count in order only; after a gap (NAK) or a time-out all from the gap on is retransmitted",
    "selective_repeat": "packets count in any order; only what is missing is retransmitted (NACK, overtaken, time-out)",
}

__all__ = ["CODES", "CONTROLS", "RECOVERIES"]
