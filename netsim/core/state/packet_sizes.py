"""How a message is cut into packets."""

from netsim.kernel import part


@part
def packets_in(message_bytes, payload):
    return (message_bytes + payload - 1) // payload


@part
def last_payload(message_bytes, payload):
    """Bytes in the last packet of a message: what the full ones leave over."""
    rest = message_bytes % payload
    return rest if rest else payload
