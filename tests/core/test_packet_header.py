"""The two integers of a packet hold what is put into them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from netsim.config.scenario import LARGEST_PACKET
from netsim.core.state import packet_header
from tests.core.worlds import plain

FLAGS = st.lists(st.sampled_from([packet_header.ACK, packet_header.MARK, packet_header.NAK]), unique=True).map(sum)


def read(name: str, word: int) -> Any:
    return plain(getattr(packet_header, name))(word)


@given(st.integers(0, (1 << 31) - 1), st.integers(0, (1 << 32) - 1))
def test_a_label_holds_connection_and_sequence(connection: int, sequence: int) -> None:
    label = plain(packet_header.make_header)(connection, sequence)
    assert (read("connection_of", label), read("sequence_of", label)) == (connection, sequence)
    assert 0 <= label < 1 << 63


@given(st.integers(0, (1 << 24) - 1), st.integers(0, 254), FLAGS)
def test_a_state_holds_bytes_hop_and_flags_and_a_hop_can_be_added(size: int, hop: int, flags: int) -> None:
    state = plain(packet_header.make_meta)(size, hop, flags)
    for word, at in ((state, hop), (state + (1 << packet_header.HOP), hop + 1)):
        assert (read("bytes_of", word), read("hop_of", word)) == (size, at)
        assert bool(read("is_ack", word)) == bool(flags & packet_header.ACK)
        assert word & 0xFF == flags


@given(st.integers(0, (1 << 24) - 1), st.integers(1, 255))
def test_an_ack_counts_its_hops_down_to_none(size: int, hops: int) -> None:
    state = plain(packet_header.make_meta)(size, hops, packet_header.ACK)
    for _ in range(hops):
        state -= 1 << packet_header.HOP
    assert (read("hop_of", state), read("bytes_of", state)) == (0, size)


def test_the_largest_packet_that_a_scenario_may_ask_for_fits() -> None:
    size = 2 * LARGEST_PACKET  # payload and header
    assert read("bytes_of", plain(packet_header.make_meta)(size, 254, packet_header.ACK)) == size
