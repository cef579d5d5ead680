"""`netsim plan` prints what the collectives say, no more and no less."""

import pytest

from netsim.collectives import ALGORITHMS
from tests.cli.command_line import CommandLine


def test_ring_moves_two_n_minus_one_over_n(cli: CommandLine) -> None:
    answer = cli.json("plan all_reduce --ranks 8 --bytes 64MiB --rows 3")
    assert (answer["algorithm"], len(answer["chunk_flows"])) == ("ring", 3)
    assert answer["most sent by a rank"] == answer["least sent by a rank"] == 2 * 7 * (64 << 20) // 8


def test_every_chunk_flow_is_printed_when_asked(cli: CommandLine) -> None:
    answer = cli.json("plan all_to_all --ranks 4 --bytes 64KiB --rows 1000")
    flows = answer["chunk_flows"]
    assert len(flows) == answer["chunk flows"] == 4 * 3
    assert sum(flow["bytes"] for flow in flows) == answer["bytes in all"] == 4 * 3 * (16 << 10)
    assert {(flow["source"], flow["target"]) for flow in flows} == {
        (i, j) for i in range(4) for j in range(4) if i != j
    }


def test_a_topology_gives_ranks_and_channels(cli: CommandLine) -> None:
    answer = cli.json("plan all_reduce --on rail_optimized_16 --bytes 64MiB")
    assert (answer["ranks"], answer["channels"]) == (16, 8)


@pytest.mark.parametrize(
    ("op", "algorithm"),
    [(op, name) for op, made in ALGORITHMS.items() if op not in ("flows", "all_to_all_v", "send") for name in made],
)
def test_every_algorithm_can_be_planned(op: str, algorithm: str, cli: CommandLine) -> None:
    answer = cli.json(f"plan {op} --algorithm {algorithm} --ranks 5 --bytes 1000000")
    assert answer["algorithm"] == algorithm
    assert answer["chunk flows"] != 0


def test_table_names_facts_and_rows(cli: CommandLine) -> None:
    text = cli.succeeds("plan all_reduce --ranks 4 --bytes 64KiB --rows 2").out
    assert "chunk flows          24" in text
    assert "source" in text
    assert text.count("16,384") >= 2
