"""Classes of traffic: the laws of strict priority, pauses that stop one class alone, and what is refused."""

from functools import cache
from typing import Any

import pytest

import netsim
from netsim.report.summary import summary_text
from netsim.traces import Group, Operation, Trace
from tests.inputs import refusal, saved
from tests.traffic import collective, send

pytestmark = pytest.mark.filterwarnings("ignore:ecn")  # of small buffers

PACKET_PS = 4160 * 80  # at 100 Gb/s
STAR: dict[str, Any] = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8, "buffer": "unlimited"}
CROWD = [(s, 0) for s in range(1, 8)]


def job(hosts: int, crowd: list[tuple[int, int]], *sends: tuple[int, int], size: int = 1_000_000) -> Trace:
    """A crowd of flows, and beside them single sends, each on a stream of its own."""
    matrix = tuple((source, target, size) for source, target in crowd)
    ranks = tuple(range(hosts))
    operations = [Operation("flows", None, ranks, size * len(matrix), flows=matrix, stream="crowd")] if crowd else []
    operations += [send(*pair, size) for pair in sends]
    return Trace("job", hosts, {}, tuple(operations))


def times(trace: Trace, fabric: dict[str, Any], **settings: Any) -> list[int]:
    """How long each operation took, ps."""
    result = netsim.simulate(trace, fabric, **{"transport": "none"} | settings)
    return result.collectives["time_ps"].tolist()


@pytest.mark.parametrize("send", [(1, 0), (1, 5)])
def test_who_goes_first_waits_for_one_packet_a_link_at_most(send: tuple[int, int]) -> None:
    """A packet that is being sent is not interrupted: that is all that lower classes cost a burst."""
    alone = times(job(8, [], send), STAR)[0]
    before = times(job(8, CROWD, send), STAR, classes={"by_operation": {"send": 1}})[1]
    among = times(job(8, CROWD, send), STAR)[1]
    assert alone <= before <= alone + 2 * PACKET_PS
    assert among > 1.5 * alone


def test_a_link_is_never_idle_for_the_sake_of_a_class() -> None:
    """Whoever goes first, the port of host 0 is done at the same time: strict priority is work-conserving."""
    ends = [max(times(job(8, CROWD, (1, 0)), STAR, classes={"by_operation": {"send": level}})) for level in (0, 1, 7)]
    assert max(ends) - min(ends) < PACKET_PS
    assert ends[1] == ends[2]  # only the order of classes counts


def test_three_classes_end_one_after_the_other() -> None:
    groups = {name: Group(name, tuple(range(8))) for name in ("dp", "tp", "pp")}
    operations = tuple(
        Operation("broadcast", name, tuple(range(8)), 4_000_000, stream=name, algorithm="ring") for name in groups
    )
    trace = Trace("three", 8, groups, operations)
    ends = {}
    for given in ({"tp": 2, "pp": 1}, {"dp": 2, "pp": 1}, {}):
        result = netsim.simulate(trace, STAR, transport="none", classes={"by_group": given})
        ends[tuple(given)] = dict(zip(result.collectives["group"], result.collectives["end_ps"], strict=True))
    assert ends["tp", "pp"]["tp"] < ends["tp", "pp"]["pp"] < ends["tp", "pp"]["dp"]
    assert ends["dp", "pp"]["dp"] < ends["dp", "pp"]["pp"] < ends["dp", "pp"]["tp"]
    assert ends["dp", "pp"]["dp"] == ends["tp", "pp"]["tp"]
    assert sorted(ends[()], key=ends[()].__getitem__) == ["dp", "tp", "pp"]  # one connection sends them as they came


def test_a_group_counts_before_an_operation_and_connections_are_apart() -> None:
    operations = tuple(Operation("all_reduce", name, (0, 1, 2, 3), 65536) for name in ("tp", "world"))
    trace = Trace("two", 4, {"tp": Group("tp", (0, 1, 2, 3))}, operations)
    classes = {"by_group": {"tp": 0}, "by_operation": {"all_reduce": 2}}
    result = netsim.simulate(trace, STAR, classes=classes)
    assert [row["collectives"] for row in result.summary["classes"]] == [1, 0, 1]
    assert [row["bytes"] for row in result.summary["classes"]] == [6 * 65536, 0, 6 * 65536]
    assert result.scenario.classes.of("all_reduce", "tp") == 0


VICTIM = {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 8, "ecn": "off", "pfc": "on"}
BULLIES = [*((s, 0) for s in range(1, 8)), (8, 0)]


@cache
def victim_ps(level: int) -> int:
    """A send from leaf 1 to leaf 0, past a port that eight others crowd; they have class `level`, it has class 0."""
    classes = {"by_operation": {"flows": level}} if level else {}
    trace = job(16, BULLIES, (9, 1), size=4_000_000)
    result = netsim.simulate(trace, VICTIM, transport="none", classes=classes)
    assert result.summary["pauses"] > 0 == result.summary["drops"]
    assert "0 dropped" in summary_text(result)
    return int(result.collectives["time_ps"][1])


def test_a_stopped_class_stops_no_other() -> None:
    """Head of line: in the class of the crowd the bystander has its eighth of the spine's link, else what is left."""
    alone = times(job(16, [], (9, 1), size=4_000_000), VICTIM)[0]
    assert victim_ps(0) > 5 * alone
    assert victim_ps(1) < 1.3 * alone


@pytest.mark.parametrize("classes", [{}, {"by_operation": {"send": 1}}])
def test_flow_control_without_headroom_says_where_it_drops(classes: dict[str, Any]) -> None:
    fabric = VICTIM | {"pfc": {"xoff": "60KB", "xon": "48KB", "headroom": 0}}
    result = netsim.simulate(job(16, BULLIES, (9, 1)), fabric, transport="none", classes=classes)
    link = result.link("leaf0", "host0")
    assert result.summary["drops"] > 0
    text = summary_text(result)
    assert "packets found no headroom, on the way to" in text
    assert f"leaf0->host0 ({link['drops']:,})" in text
    assert ("class  collectives" in text) == bool(classes)


@pytest.mark.parametrize("pfc", ["on", {"xoff": "20KB", "xon": "10KB"}])
@pytest.mark.parametrize("level", [0, 1])
def test_flow_control_with_its_own_headroom_never_drops(pfc: Any, level: int) -> None:
    fabric = VICTIM | {"pfc": pfc}
    classes = {"by_operation": {"send": level}}
    result = netsim.simulate(job(16, BULLIES, (9, 1)), fabric, transport="none", classes=classes)
    assert result.summary["drops"] == 0 < result.summary["pauses"]
    assert "no headroom" not in summary_text(result)


def test_one_class_by_whatever_name_is_the_run_without_classes() -> None:
    trace, fabric = job(8, CROWD, (1, 5)), STAR | {"buffer": "416KB"}
    plain = netsim.simulate(trace, fabric)
    named = netsim.simulate(trace, fabric, classes={"by_operation": {"send": 0}})
    assert "classes" not in plain.summary
    assert "classes" not in plain.scenario.to_toml()
    assert "classes" not in named.summary
    for table in ("collectives", "parts", "flows", "links", "queues"):
        assert getattr(plain, table).equals(getattr(named, table))


def test_links_and_queues_add_up_over_classes() -> None:
    trace, fabric = job(8, CROWD, (1, 0), size=400_000), STAR | {"buffer": "100KB", "ecn": {"kmin": 0, "kmax": "80KB"}}
    result = netsim.simulate(trace, fabric, transport="window", classes={"by_operation": {"send": 3}})
    rows = result.summary["classes"]
    assert [row["class"] for row in rows] == [0, 1, 2, 3]
    for name, column in (("drops", "drops"), ("ecn_marks", "ecn_marks"), ("pauses", "pauses_sent")):
        assert sum(row[name] for row in rows) == result.links[column].sum() == result.summary[name]
    assert rows[0]["drops"] > 0 < rows[0]["ecn_marks"]
    assert rows[3]["bytes"] == 400_000
    assert max(row["max_queue_bytes"] for row in rows) == result.links["max_queue_bytes"].max()
    assert not result.queues.duplicated(["time_ps", "link"]).any()
    assert result.queues["link"].max() < len(result.links)
    text = summary_text(result).splitlines()
    assert [line.split()[0] for line in text[-4:]] == ["3", "2", "1", "0"]


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ({"by_operation": {"all_reduce": 8}}, "classes.by_operation.all_reduce"),
        ({"by_operation": {"all_reduce": -1}}, "classes.by_operation.all_reduce"),
        ({"by_operation": {"allreduce": 1}}, "did you mean 'all_reduce'?"),
        ({"by_group": {"world": 9}}, "classes.by_group.world"),
        ({"by_group": {"wrld": 1}}, "no group 'wrld'; did you mean 'world'?"),
        ({"by_rank": {"0": 1}}, "by_rank"),
    ],
)
def test_bad_classes_are_refused_in_one_line(classes: dict[str, Any], words: str) -> None:
    assert words in refusal(netsim.simulate, collective("all_reduce", 8, 1000), STAR, classes=classes)


def test_several_classes_need_a_control_class_above_them() -> None:
    fabric, trace = STAR | {"control_class": "shared"}, collective("all_reduce", 8, 1000)
    said = refusal(netsim.simulate, trace, fabric, classes={"by_group": {"world": 2}})
    assert "3 classes of traffic where control shares a queue with data; set control" in said


def test_a_scenario_says_its_classes_again(tmp_path: Any) -> None:
    text = 'trace = "perm16"\ntopology = "fat_tree_k4_100g"\n[classes]\nby_operation = { flows = 1 }\n'
    path = saved(tmp_path / "scenario.toml", text)
    scenario = netsim.load_scenario(path)
    assert scenario.classes.count == 2
    assert netsim.load_scenario(saved(tmp_path / "again.toml", scenario.to_toml())) == scenario
    assert netsim.load_scenario(path, ["classes.by_operation.flows=0"]) != scenario
