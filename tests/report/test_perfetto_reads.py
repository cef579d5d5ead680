"""Perfetto's own trace processor finds in the file what the tables of the run say: nothing lost, nothing turned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

import netsim
from netsim.explain.chunks import chunks_of
from netsim.report.perfetto import write_trace
from netsim.report.perfetto_counters import worst_links
from netsim.result import Result
from netsim.result.chunks import Chunks
from tests.report.trace_processor import Query, trace_processor
from tests.traffic import job

pytestmark = pytest.mark.filterwarnings("default")  # those of selenium and perfetto
ENDS = """select a.category as tail, a.pid as tail_pid, b.category as head, b.pid as head_pid, a.start_ps as tail_ps,
    b.start_ps as head_ps from flow join {0} a on slice_out = a.id join {0} b on slice_in = b.id"""
SLICES = """(select s.id, s.category, p.pid, extract_arg(s.arg_set_id, 'args.start_ps') as start_ps
    from slice s join thread_track t on s.track_id = t.id join thread using (utid) join process p using (upid))"""


def longer_job(rank: netsim.Rank) -> Any:
    """Streams have one short part after the other, at odd picoseconds."""
    yield from job(rank)
    for number in range(12):
        yield rank.compute(f"{1.0006 + 0.0013 * number:.4f}us")
    yield rank.reduce_scatter("64KiB")


@pytest.fixture(scope="module", params=["job", "incast16"])
def run(request: pytest.FixtureRequest) -> Result:
    if request.param == "job":
        return netsim.simulate(longer_job, "fat_tree_k4_100g", ranks=16)
    return netsim.simulate("incast16", "fat_tree_k4_100g")


@pytest.fixture(scope="module")
def query(run: Result, chunks: Chunks, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    folder = tmp_path_factory.mktemp("perfetto")
    write_trace(run, folder / "run.json.gz", chunks=chunks)
    with trace_processor(folder / "run.json.gz", folder / "profile") as ask:
        yield ask


@pytest.fixture(scope="module")
def chunks(run: Result) -> Chunks:
    return chunks_of(run)


def last_begun(run: Result) -> Any:
    """When the last rank of each part's collective began; in a matrix of flows nobody waits for that."""
    matrices = run.collectives.set_index("id")["op"] == "flows"
    last = run.parts.groupby("collective")["start_ps"].transform("max")
    return last.where(~run.parts["collective"].map(matrices), run.parts["start_ps"])


def test_no_errors(query: Query) -> None:
    assert query("select name, value from stats where severity != 'info' and value > 0") == []


def test_slices_by_kind(run: Result, chunks: Chunks, query: Query) -> None:
    found = dict(query("select category, count(*) from slice group by category"))
    waits = (last_begun(run).clip(upper=run.parts["end_ps"]) > run.parts["start_ps"]).sum()
    delivers = query("select count(*) from flow join slice s on slice_out = s.id where s.category = 'flow'")[0][0]
    wanted = {"collective": len(run.parts), "flow": len(run.flows), "wait": waits, "last": delivers}
    wanted |= {"chunk": len(chunks)}
    assert found == {kind: number for kind, number in wanted.items() if number}
    assert delivers >= 1


def test_slices_by_rank_and_thread(run: Result, chunks: Chunks, query: Query) -> None:
    """No slice of its own thread lies in another but those of waiting, and they are where the tables say."""
    sql = """select p.name as rank, t.name as thread, s.category as kind, s.depth as depth, count(*) as many
        from slice s join thread_track k on s.track_id = k.id join thread t using (utid) join process p using (upid)
        group by 1, 2, 3, 4"""
    found: Counter[tuple[str, str]] = Counter()
    for rank, thread, kind, depth, many in query(sql):
        assert thread.startswith("channel " if kind in {"flow", "chunk"} else "stream ")
        assert (", chunks" in thread) == (kind == "chunk")
        assert (depth == 0) == (kind in {"flow", "collective", "chunk"})
        found[rank, kind] += many
    for kind, ranks in (
        ("collective", run.parts["rank"]),
        ("flow", run.flows["src"]),
        ("chunk", pd.Series(chunks.source)),
    ):
        told = {rank: many for (rank, which), many in found.items() if which == kind}
        assert told == {f"rank {rank}": many for rank, many in ranks.value_counts().items()}


def test_slices_begin_and_last_as_in_the_run(run: Result, query: Query) -> None:
    sql = """select sum(abs(ts - a / 1000.0) > 0.5001), sum(abs(ts + dur - (a + b) / 1000.0) > 0.5001), sum(b) from
        (select ts, dur, category, extract_arg(arg_set_id, 'args.start_ps') as a,
        extract_arg(arg_set_id, 'args.time_ps') as b from slice where category = '{}')"""
    parts, flows = run.parts, run.flows
    assert query(sql.format("collective")) == [(0, 0, (parts["end_ps"] - parts["start_ps"]).sum())]
    assert query(sql.format("flow")) == [(0, 0, (flows["delivered_ps"] - flows["start_ps"]).sum())]


def test_arrows_go_from_cause_to_effect(run: Result, query: Query) -> None:
    """From waiting to the rank waited for, and from a flow to the rank that waited for its last byte."""
    arrows = [each for each in query(ENDS.format(SLICES)) if each[0] != "chunk"]
    between_chunks = query("select count(*) from flow join slice s on slice_out = s.id where s.category = 'chunk'")
    assert [(len(arrows) + between_chunks[0][0],)] == query("select count(*) from flow")
    waiting = run.parts[(last_begun(run) > run.parts["start_ps"]) & (last_begun(run) < run.parts["end_ps"])]
    found = Counter((tail, head) for tail, _, head, *_ in arrows)
    assert set(found) <= {("wait", "collective"), ("wait", "last"), ("flow", "last")}  # "last" begins with the part
    assert found["wait", "collective"] + found["wait", "last"] == len(waiting)
    begun = set(zip(run.parts["rank"] + 1, run.parts["start_ps"], strict=True))
    pairs = set(zip(run.flows["src"] + 1, run.flows["dst"] + 1, run.flows["start_ps"], strict=True))
    for tail, source, _, target, tail_ps, head_ps in arrows:
        assert tail_ps <= head_ps
        assert (target, head_ps) in begun if tail == "wait" else (source, target, tail_ps) in pairs


CHUNK = """(select s.id, p.pid - 1 as rank, s.ts, s.ts + s.dur as until, extract_arg(s.arg_set_id, 'args.step') as step,
    extract_arg(s.arg_set_id, 'args.to_rank') as peer, extract_arg(s.arg_set_id, 'args.collective') as collective,
    extract_arg(s.arg_set_id, 'args.bytes') as bytes, extract_arg(s.arg_set_id, 'args.start_ps') as start_ps,
    extract_arg(s.arg_set_id, 'args.waited_ps') as waited_ps, extract_arg(s.arg_set_id, 'args.time_ps') as time_ps
    from slice s join thread_track t on s.track_id = t.id join thread using (utid) join process p using (upid)
    where s.category = 'chunk')"""


def test_chunk_flows_add_up_to_the_flows(run: Result, query: Query) -> None:
    """Their bytes, when the first was free and when the last was delivered; on the nanosecond where they are drawn."""
    sql = f"""select collective, rank, peer, sum(bytes), min(start_ps - waited_ps), max(start_ps + time_ps),
        max(abs(ts - start_ps / 1000.0) > 0.5001 or abs(until - (start_ps + time_ps) / 1000.0) > 0.5001)
        from {CHUNK} group by 1, 2, 3 order by 1, 2, 3"""
    flows = run.flows.groupby(["collective", "src", "dst"], as_index=False).agg(
        bytes=("bytes", "sum"), start_ps=("start_ps", "min"), delivered_ps=("delivered_ps", "max")
    )
    assert query(sql) == [(*each, 0) for each in flows.itertuples(index=False, name=None)]


def test_chunk_flows_wait_as_in_the_run(run: Result, chunks: Chunks, query: Query) -> None:
    """An arrow per pair; in rings from each chunk flow but those of the first steps to the one that waited for it."""
    sql = f"""select count(*), sum(a.until <= b.ts), sum(a.peer = b.rank and a.step + 1 = b.step)
        from flow join {CHUNK} a on slice_out = a.id join {CHUNK} b on slice_in = b.id"""
    ((count, in_time, in_step),) = query(sql)
    assert count == len(chunks.later)
    if count:
        first_steps = run.collectives["ranks"].sum()
        assert count == in_time == in_step == len(chunks) - first_steps


def test_counters_by_link(run: Result, query: Query) -> None:
    sql = """select t.name, max(c.value), count(*) from counter c join process_counter_track t on c.track_id = t.id
        join process p using (upid) where p.name like 'links%' group by t.id"""
    found = {name: (most, many) for name, most, many in query(sql)}
    assert sum(many for _, many in found.values()) == query("select count(*) from counter")[0][0]
    links = worst_links(run)
    names = links["source"] + "->" + links["target"]
    for name, link, marks in zip(names, links["id"], links["ecn_marks"], strict=True):
        samples = run.queues[run.queues["link"] == link]
        assert found[f"{name} queue KiB"][0] == pytest.approx(samples["bytes"].max() / 1024, rel=1e-5)
        assert found[f"{name} rate Gb/s"][1] >= 2
        if marks:
            assert found[f"{name} marks so far packets"] == (pytest.approx(marks, rel=1e-5), len(samples) + 1)
