"""Tail drop: a queue holds so many bytes, and what does not fit is refused."""

from netsim.kernel import part


@part
def refuses(settings, state, limits, pool, backlog, wire_bytes, now):
    return backlog + wire_bytes > limits.buffer
