"""MSCCL's XML as an algorithm: who waits for whom, and what is refused."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.collectives import Request, Schedule, check, depths, plan
from netsim.collectives.msccl_xml import read_xml
from netsim.errors import InputError
from tests.inputs import refusal, saved
from tests.traces.sample_files import needs_samples, sample


def step(kind: str, at: int = 0, dep: tuple[int, int] = (-1, -1), count: int = 1, buffer: str = "i") -> str:
    return (
        f'<step s="0" type="{kind}" srcbuf="{buffer}" srcoff="{at}" dstbuf="o" dstoff="{at}" cnt="{count}" '
        f'depid="{dep[0]}" deps="{dep[1]}" hasdep="0"/>'
    )


def block(number: int, send: int, recv: int, *steps: str, channel: int = 0) -> str:
    return f'<tb id="{number}" send="{send}" recv="{recv}" chan="{channel}">{"".join(steps)}</tb>'


def xml(*gpus: str, coll: str = "allgather", chunks: int = 3, number: int | None = None) -> str:
    inside = "".join(
        f'<gpu id="{rank}" i_chunks="1" o_chunks="3" s_chunks="0">\n{text}</gpu>\n' for rank, text in enumerate(gpus)
    )
    ngpus = len(gpus) if number is None else number
    return f'<algo name="small" nchunksperloop="{chunks}" ngpus="{ngpus}" coll="{coll}">\n{inside}</algo>\n'


DIRECT = xml(block(0, 1, -1, step("s")), block(0, -1, 0, step("r")), coll="broadcast", chunks=1)


def chain(between: str) -> str:
    """A broadcast of one chunk from gpu 0 to gpu 2 by way of gpu 1, whose blocks these are."""
    return xml(block(0, 1, -1, step("s")), between, block(0, -1, 1, step("r")), coll="broadcast", chunks=1)


CHAIN = chain(block(0, 2, 0, step("rcs", 0)))


def planned(folder: Path, text: str, op: str = "broadcast", ranks: int = 3, size: int = 300) -> Schedule:
    return plan(Request(op=op, ranks=ranks, bytes=size), str(saved(folder / "small.xml", text)))


def test_what_is_received_is_sent_on(tmp_path: Path) -> None:
    schedule = planned(tmp_path, "<!-- free -->\n" + CHAIN)
    rows = list(zip(schedule.source.tolist(), schedule.target.tolist(), schedule.bytes.tolist(), strict=True))
    assert rows == [(0, 1, 300), (1, 2, 300)]
    assert schedule.predecessors(1).tolist() == [0]
    assert (schedule.algorithm, schedule.op) == ("small", "broadcast")


def test_a_step_waits_for_the_block_it_depends_on(tmp_path: Path) -> None:
    later = block(1, 2, -1, step("nop", count=0), step("s", dep=(0, 0)))
    schedule = planned(tmp_path, chain(block(0, -1, 0, step("r")) + later))
    assert schedule.predecessors(1).tolist() == [0]


def test_sends_in_a_row_wait_for_nothing_but_go_in_order(tmp_path: Path) -> None:
    sends, receives = ([step(kind, 0), step(kind, 1, count=2)] for kind in "sr")
    text = xml(block(0, 1, -1, *sends), block(0, -1, 0, *receives), coll="broadcast")
    schedule = planned(tmp_path, text, "broadcast", 2, 10)
    assert schedule.bytes.tolist() == [4, 6]
    assert schedule.offset.tolist() == [0, 4]
    assert schedule.after.tolist() == []


def test_a_reducing_receive_is_marked_and_channels_are_apart(tmp_path: Path) -> None:
    first = block(0, 1, -1, step("s"), channel=4) + block(1, -1, 1, step("r"), channel=5)
    second = block(0, -1, 0, step("rrc"), channel=4) + block(1, 0, -1, step("s", dep=(0, 0)), channel=5)
    schedule = planned(tmp_path, xml(first, second, coll="allreduce", chunks=1), "all_reduce", 2, 30)
    assert dict(zip(schedule.channel.tolist(), schedule.reduces.tolist(), strict=True)) == {4: True, 5: False}


def test_fewer_bytes_than_chunks_still_arrive(tmp_path: Path) -> None:
    halves = [[step(kind, at, count=32) for at in (0, 32)] for kind in ("s", "r")]
    text = xml(block(0, 1, -1, *halves[0]), block(0, -1, 0, *halves[1]), coll="broadcast", chunks=64)
    assert planned(tmp_path, text, ranks=2, size=1).bytes.tolist() == [1, 1]
    assert len(planned(tmp_path, text, ranks=2, size=0)) == 0


def window(text: str, least: int, most: int) -> str:
    return text.replace("<algo", f'<algo minBytes="{least}" maxBytes="{most}"', 1)


@pytest.mark.parametrize(
    ("least", "most", "inside", "outside", "told"),
    [(64, 1024, (64, 1024), (63, 1025), "64 bytes to 1,024"), (8, 0, (8, 1 << 40), (7,), "8 bytes and more")],
)
def test_it_is_used_for_the_sizes_it_is_for(
    tmp_path: Path, least: int, most: int, inside: tuple[int, ...], outside: tuple[int, ...], told: str
) -> None:
    text = window(CHAIN, least, most)
    for size in inside:
        assert planned(tmp_path, text, size=size).algorithm == "small"
    for size in outside:
        with pytest.warns(UserWarning, match=rf"is for {told} \(.*\): broadcast of other sizes takes ring"):
            assert planned(tmp_path, text, size=size).algorithm == "ring"


IN_PLACE = [step("rrc", gpu).replace(f'dstoff="{gpu}"', 'dstoff="0"') for gpu in (0, 1)]
EXCHANGE = [block(0, 1 - gpu, 1 - gpu, step("s", 1 - gpu), IN_PLACE[gpu]) for gpu in (0, 1)]
SCATTERED = xml(*EXCHANGE, coll="reducescatter", chunks=2)


def test_a_reduce_scatter_may_end_in_place(tmp_path: Path) -> None:
    assert len(planned(tmp_path, SCATTERED, "reduce_scatter", 2, 8)) == 2


@pytest.mark.parametrize(
    ("text", "op", "what"),
    [
        (CHAIN.replace("rcs", "rrs").replace("broadcast", "allreduce"), "all_reduce", "gpu 0 ends without"),
        (SCATTERED.replace("reducescatter", "allreduce"), "all_reduce", '="allreduce", but gpu 0 ends without chunk 1'),
        (SCATTERED.replace("reducescatter", "allgather"), "all_gather", "gpu 0 ends without chunk"),
        (SCATTERED.replace("reducescatter", "alltoall"), "all_to_all", "gpu 0 ends without chunk"),
        (SCATTERED.replace('"rrc"', '"r"'), "reduce_scatter", "gpu 0 ends without chunk 0"),
        (SCATTERED.replace('nchunksperloop="2"', 'nchunksperloop="3"'), "reduce_scatter", "its 3 chunks are no whole"),
        (CHAIN.replace(step("s"), step("s", at=1)), "broadcast", "gpu 1 ends"),
    ],
)
def test_a_file_that_does_not_do_what_it_says_is_refused(tmp_path: Path, text: str, op: str, what: str) -> None:
    ranks = 2 if text.count("<gpu") == 2 else 3
    assert what in refusal(planned, tmp_path, text, op, ranks, 96)


@pytest.mark.parametrize("first", [0, 1], ids=["received first", "sent on first"])
def test_blocks_of_a_gpu_that_do_not_wait_for_each_other_are_refused(tmp_path: Path, first: int) -> None:
    """What gpu 1 sends on may not be there yet, whichever block stands first in the file."""
    blocks = [block(0, -1, 0, step("r", buffer="o")), block(1, 2, -1, step("s", buffer="o"))]
    text = chain(blocks[first] + blocks[1 - first])
    assert "gpu 2 ends without chunk 0" in refusal(planned, tmp_path, text)
    waits = text.replace(step("s", buffer="o"), step("s", buffer="o", dep=(0, 0)))
    assert len(planned(tmp_path, waits)) == 2


def test_it_is_for_one_collective_and_one_size_of_group(tmp_path: Path) -> None:
    other = refusal(planned, tmp_path, CHAIN, op="all_reduce")
    assert "an algorithm for broadcast, not for all_reduce; write --algorithm broadcast=" in other
    assert "is made for 3 GPUs, the group has 4" in refusal(planned, tmp_path, CHAIN, ranks=4)
    request = Request(op="broadcast", ranks=4, bytes=1)
    assert "cannot be read" in refusal(plan, request, str(tmp_path / "missing.xml"))


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    assert planned(tmp_path, CHAIN).algorithm == "small"
    assert planned(tmp_path, CHAIN.replace("small", "longer")).algorithm == "longer"


BOMB = '<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><algo name="&b;"/>'


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (BOMB, 1, "declares a document type, which may hide entities"),
        ("<algo " * 3, 1, "is no XML"),
        (CHAIN[:-20], 7, "is no XML"),
        ("<gpu/>", 1, "<gpu> first is not known"),
        (CHAIN.replace("<tb", "<algo><tb", 1), 3, "<algo> inside <gpu> is not known"),
        (CHAIN.replace('coll="broadcast"', 'coll="broadcats"'), 1, "did you mean 'broadcast'"),
        (CHAIN.replace('type="rcs"', 'type="rxs"'), 5, "step type 'rxs'"),
        (CHAIN.replace('type="rcs"', 'type="s"'), 3, "sends 1 times on chan 0 to gpu 1, which receives 0 times"),
        (CHAIN.replace('ngpus="3"', 'ngpus="4"'), 1, "says ngpus 4, but 3 are there"),
        (CHAIN.replace('send="1"', 'send="0"'), 3, "gpu 0 sends to or receives from itself"),
        (CHAIN.replace('send="1"', 'send="-1"'), 3, "stands in a tb with send -1"),
        (CHAIN.replace('send="1"', 'send="7"'), 3, "send='7'"),
        (CHAIN.replace('chan="0"', "", 1), 3, "<tb> has no chan"),
        (CHAIN.replace('depid="-1" deps="-1"', 'depid="3" deps="0"'), 3, "depends on step 0 of tb 3"),
        (window(CHAIN, 10, 5), 1, "minBytes 10 is above maxBytes 5"),
        (CHAIN.replace('depid="-1" deps="-1"', 'depid="0" deps="0"'), 3, "the step waits for itself"),
        (CHAIN.replace('cnt="1"', 'cnt="2"', 1), 3, "cnt='2'"),
    ],
)
def test_a_mistake_names_its_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    told = refusal(planned, tmp_path, text)
    assert f"small.xml:{line}: " in told
    assert what in told.replace('"', "'")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_damaged_file_is_an_input_error_or_a_schedule(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(CHAIN)))
    end = data.draw(st.integers(start, len(CHAIN)))
    text = CHAIN[:start] + data.draw(st.text(max_size=3)) + CHAIN[end:]
    try:
        schedule = planned(tmp_path_factory.mktemp("damaged"), text)
    except InputError:
        return
    check(schedule)


@needs_samples
@pytest.mark.parametrize(
    ("name", "op", "gpus", "blocks", "steps", "crossing", "depth", "largest"),
    [  # crossing: how many times the full buffer crosses the network, all ranks together
        ("ag_hier_4_LL.xml", "all_gather", 4, 48, {"s": 32, "r": 32, "rcs": 16, "cpy": 16}, 3, 2, 792_576),
        ("alltoall-8n-0-9kb.xml", "all_to_all", 8, 120, {"s": 56, "r": 56, "cpy": 8}, 7, 1, 9216),
        ("astra_custom_allreduce_ring8.xml", "all_reduce", 8, 8, {"s": 112, "rrc": 56, "r": 56}, 14, 14, 0),
    ],
)
def test_samples(
    name: str, op: str, gpus: int, blocks: int, steps: dict[str, int], crossing: int, depth: int, largest: int
) -> None:
    (path,) = sample("msccl", name)
    algorithm = read_xml(path)
    assert (algorithm.op, algorithm.gpus) == (op, gpus)
    assert sum(map(len, algorithm.blocks.values())) == blocks
    blocks = [block for of_gpu in algorithm.blocks.values() for block in of_gpu.values()]
    assert Counter(step.type for block in blocks for step in block.steps) == steps
    assert algorithm.most == largest
    size = largest or 1 << 20
    schedule = plan(Request(op=op, ranks=gpus, bytes=size), str(path))
    assert int(schedule.bytes.sum()) == crossing * size
    assert int(depths(schedule).max()) + 1 == depth
