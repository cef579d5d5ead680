"""Messages over queue pairs: whose turn it is, what a piece is, who waits for what."""

from typing import Any

import numpy as np

from netsim.core.flows.queue_pairs import QueuePairs, joined
from netsim.core.ideal.flow_floors import FLOOR
from tests.core.scenario_runs import schedule_of

HOSTS = np.arange(4)
ROWS = [(0, 1, 0, 9000, ()), (0, 1, 0, 100, ()), (2, 1, 0, 1, ()), (1, 3, 1, 4096 * 3, (0, 2)), (0, 1, 0, 5000, (1,))]


def spread(pairs: QueuePairs, rows: Any = ROWS) -> Any:
    return pairs.spread(schedule_of(rows, 4), HOSTS)


def test_one_queue_pair_changes_nothing() -> None:
    schedule = schedule_of(ROWS, 4)
    assert QueuePairs().spread(schedule, HOSTS) is schedule


def test_messages_of_a_connection_take_turns_from_collective_to_collective() -> None:
    pairs = QueuePairs(2)
    assert spread(pairs).channel.tolist() == [0, 1, 0, 2, 0]
    assert spread(pairs).channel.tolist() == [1, 0, 1, 3, 1]
    assert spread(pairs, [(3, 2, 0, 5, ()), (1, 3, 1, 5, ())]).channel.tolist() == [0, 2]


def test_a_split_is_even_in_packets_and_loses_no_byte() -> None:
    pieces = spread(QueuePairs(2, split=True, payload=4096))
    assert pieces.bytes.tolist() == [8192, 808, 100, 1, 8192, 4096, 4096, 904]
    assert pieces.channel.tolist() == [0, 1, 0, 0, 2, 3, 0, 1]
    assert pieces.source.tolist() == [0, 0, 0, 2, 1, 1, 0, 0]


def test_who_waits_for_a_message_waits_for_all_its_pieces() -> None:
    pieces = spread(QueuePairs(2, split=True, payload=4096))
    lists = [pieces.after[a:b].tolist() for a, b in zip(pieces.first_after[:-1], pieces.first_after[1:], strict=True)]
    assert lists == [[], [], [], [], [0, 1, 3], [0, 1, 3], [2], [2]]


def test_inside_a_server_there_is_one() -> None:
    def inside(source: Any, target: Any) -> Any:
        return source + target == 1

    turns = spread(QueuePairs(2, inside=inside))
    assert turns.channel.tolist() == [0, 0, 0, 2, 0]
    pieces = spread(QueuePairs(2, split=True, payload=4096, inside=inside))
    assert pieces.bytes.tolist() == [9000, 100, 1, 8192, 4096, 5000]


def test_queue_pairs_are_one_row_again() -> None:
    rows = {
        "source": [0, 0, 1], "target": [1, 1, 2], "channel": [2, 3, 0], "bytes": [10, 20, 5], "start_ps": [7, 3, 1],
        "delivered_ps": [70, 30, 10], "acked_ps": [71, 90, 11], "ideal_ps": [8, 9, 4],
    }  # fmt: skip
    columns = {name: np.array(column) for name, column in rows.items()}
    floors = np.zeros(3, FLOOR)
    floors["first"], floors["rest"], floors["egress"] = [6, 5, 3], [2, 3, 1], [4, 4, 4]
    whole = {
        "source": [0, 1], "target": [1, 2], "channel": [1, 0], "bytes": [30, 5],
        "start_ps": [3, 1], "delivered_ps": [70, 10], "acked_ps": [90, 11], "ideal_ps": [13, 4],
    }  # fmt: skip
    assert {name: column.tolist() for name, column in joined(columns, floors, 2).items()} == whole
    floors["egress"] = [4, 6, 4]  # by NICs of their own: no slower than the slower one
    assert joined(columns, floors, 2)["ideal_ps"].tolist() == [9, 4]
    assert joined({name: column[:0] for name, column in columns.items()}, floors[:0], 2)["bytes"].tolist() == []
