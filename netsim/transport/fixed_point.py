"""Fixed point with 16 fractional bits, so that windows come out the same everywhere."""

ONE = 1 << 16
WIDEST = 1 << 46  # a window of 2^30 packets
LOAD_BITS = 20  # fractional bits of the load of a link: 1 is one that is just full
