"""Summary: every number is where a person looks for it, and equal operations are one row."""

from typing import Any

from netsim.report.summary import MOST_ROWS, grouped, operations_text, summary_text
from tests.outcomes import US, result_of, scenario_of

FLOWS = [(0, 15, 1 << 20, 0, 100 * US)]


def reduced(number: int, time_us: int = 10, **more: Any) -> dict[str, Any]:
    start = number * 100 * US
    times = {"start_ps": start, "end_ps": start + time_us * US, "ideal_ps": 5 * US}
    return {"op": "all_reduce", "algorithm": "ring", "bytes": 14336, **times, **more}


def test_equal_operations_are_one_row_with_median_and_slowest() -> None:
    operations = [reduced(number, 10 if number else 40) for number in range(181)]
    text = operations_text(result_of(scenario_of(), FLOWS, operations).collectives)
    head, row = text.splitlines()
    assert row.split() == (
        ["all_reduce", "ring", "world", "16", "14", "KiB", "181", "10.00", "40.00", "1.43", "2.69", "5.00", "2.00", "x"]
    )
    assert len(head) == len(row)
    assert head.index("slowest us") + len("slowest us") == row.index("40.00") + len("40.00")


def test_one_operation_has_no_slowest() -> None:
    text = operations_text(result_of(scenario_of(), FLOWS, [reduced(0)]).collectives)
    assert " 1 " in text
    assert " 10.00           -" in text


def test_many_groups_fall_together_when_the_table_is_long() -> None:
    operations = [reduced(number, group=f"dp{number}") for number in range(MOST_ROWS + 1)]
    table = result_of(scenario_of(), FLOWS, operations).collectives
    assert len(grouped(table)) == 1
    assert f"{MOST_ROWS + 1} groups" in operations_text(table)
    assert len(grouped(table.head(MOST_ROWS))) == MOST_ROWS


def test_too_many_kinds_leave_out_the_quick_ones() -> None:
    operations = [reduced(number, 1 + number, bytes=1024 * (1 + number)) for number in range(MOST_ROWS + 5)]
    text = operations_text(result_of(scenario_of(), FLOWS, operations).collectives)
    assert text.splitlines()[1].split()[4:6] == ["25", "KiB"]
    assert text.endswith("(5 more kinds of operations took less time)")


def test_the_whole_summary() -> None:
    text = summary_text(result_of(scenario_of(), FLOWS, [reduced(0)]))
    assert text.startswith(
        "by_hand on fat_tree_k4_100g, dcqcn + go_back_n, ecmp, packed, seed 1\n"
        "preset roce: transport.control = dcqcn, transport.recovery = go_back_n, routing.kind = ecmp, "
        "topology.ecn = { kmin = 100KB, kmax = 400KB, pmax = 0.2, rate =\n  25Gb/s }, topology.buffer = 1600000, "
        "topology.pfc = { xoff = unlimited, xon = unlimited }, nic.jitter = 1.0\nfinished at 10.00 us; "
    )
    alone = summary_text(result_of(scenario_of(transport={"control": "dctcp"}), FLOWS, [reduced(0)]))
    assert alone.startswith("by_hand on fat_tree_k4_100g, dctcp + go_back_n, ecmp, packed, seed 1\nfinished at ")
    assert "Limited by" in text
    assert "1,000 packets delivered, 2 dropped, 7 marked, 0 retransmitted" in text
    assert alone.splitlines()[-5].split()[:4] == ["core3->agg7", "core", "100", "Gb/s"]
    assert text.splitlines()[-3] == (
        "dcqcn takes no notice of losses: 2 packets dropped or lost, which only go_back_n acts on"
    )
    assert text.splitlines()[-1].startswith(
        "flow control is on, and yet 2 packets found no headroom, on the way to tor0->"
    )
    assert text == result_of(scenario_of(), FLOWS, [reduced(0)]).summary_text()
    assert max(map(len, text.splitlines())) < 300


def test_links_are_shown_busiest_first() -> None:
    lines = summary_text(result_of(scenario_of(transport={"control": "dctcp"}), FLOWS)).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("busiest links"))
    assert [line.split()[4] for line in lines[start + 1 :]] == ["86", "85", "85", "84", "83"]  # n / 110


def test_an_empty_run() -> None:
    text = summary_text(result_of(scenario_of(), [], []))
    assert "no collectives" in text
    assert "nothing was sent." in text
