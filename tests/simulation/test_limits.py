"""Runs that would not end: refused where time would stand still, ended where all is in vain, at the user's limits."""

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.simulation.interrupts import heard_meanwhile
from netsim.simulation.job import Rank
from netsim.simulation.replay import Steps
from netsim.topology import LeafSpine
from tests.cli.command_line import CommandLine
from tests.inputs import failure, refusal, saved
from tests.processes import started
from tests.traffic import flows

pytestmark = pytest.mark.filterwarnings("ignore:ecn", "ignore:ndp")  # of small buffers

NDP = {"control": "ndp", "recovery": "selective_repeat"}


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said while the core compiles has tests of its own."""
    monkeypatch.setattr("netsim.kernel.is_compiled", lambda _: True)


def pairs(rank: Rank) -> Steps:
    yield rank.all_to_all("1MiB")


def test_headers_that_cross_links_in_no_time_are_refused() -> None:
    def simulated(delay: int, header: int) -> netsim.Result:
        topology = LeafSpine(leaves=2, spines=1, hosts_per_leaf=1, trim=True, delay=delay)
        return netsim.simulate(pairs, topology, ranks=2, transport=NDP, packet={"header": header})

    said = refusal(simulated, 0, 0)
    assert "has no bytes (packet.header = 0), and crosses a link without delay" in said
    assert said.endswith("give packet.header at least 1 B, or the link a delay")
    simulated(0, 1)
    simulated(1, 0)


NO_ACK_FITS = LeafSpine(leaves=2, spines=1, hosts_per_leaf=4, buffer=4160)
LARGE_ACKS = {"ack": 5000}


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ports that no ACK passes are refused; here they stand for what would be in vain for another reason."""
    monkeypatch.setattr("netsim.core.state.checks.check_room", lambda *_: None)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("transport", [NDP, {"control": "none"}])
def test_what_is_sent_in_vain_for_ever_ends_with_the_reason(transport: dict[str, str]) -> None:
    """No ACK gets through, and with the time-out that netsim finds the NIC would try ten thousands of times."""
    said = failure(netsim.simulate, pairs, NO_ACK_FITS, ranks=2, transport=transport, packet=LARGE_ACKS)
    assert "nothing new has arrived since" in said
    assert "0 collectives are finished, all_to_all 0 (ranks 0, 1) is not: goes on at ranks 0, 1" in said


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("seed", [1, 2])
def test_the_moment_of_the_end_is_the_same_in_every_run(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    said = set()
    for steps in (1, 4096):
        monkeypatch.setattr("netsim.simulation.progress_interval.FIRST_STEPS", steps)
        given = {"ranks": 2, "transport": NDP, "packet": LARGE_ACKS, "seed": seed}
        said.add(failure(netsim.simulate, pairs, NO_ACK_FITS, **given))
    assert len(said) == 1


def test_a_nic_that_gives_up_by_itself_says_so_first() -> None:
    topology = LeafSpine(leaves=2, spines=1, hosts_per_leaf=1, loss=0.9999, delay="1us")
    for transport in ({"timeout": "auto"}, {"timeout": "10us", "retries": 5000}, {"timeout": "5ms", "retries": 40}):
        chosen = {"control": "none", "window": 4, **transport}
        assert "gave up after" in failure(netsim.simulate, pairs, topology, ranks=2, transport=chosen)


def test_long_silence_is_not_taken_for_a_livelock() -> None:
    """Time-outs of a second, slow links, hours of computing: nothing new arrives for long, and the run ends well."""

    def job(rank: Rank) -> Steps:
        yield rank.compute("3600s")
        yield rank.all_to_all("64KiB")

    slow = LeafSpine(leaves=2, spines=1, hosts_per_leaf=1, rate="100Kb/s", delay="1us")
    assert netsim.simulate(job, slow, ranks=2, transport="none").summary["completion_time_ps"] > 3600 * 10**12
    lossy = LeafSpine(leaves=2, spines=1, hosts_per_leaf=1, loss=0.3, delay="1us")
    transport = {"control": "none", "window": 1, "timeout": "1s", "retries": 100}
    assert netsim.simulate(job, lossy, ranks=2, transport=transport).summary["packets_in_flight"] == 0


@pytest.mark.parametrize("command", ["run", "compare"])
def test_limits_of_the_command_line(command: str, cli: CommandLine, tmp_path: Path) -> None:
    given = f"{command} perm16 --on fat_tree_k4_100g"
    out = f"--out {tmp_path}/out" if command == "run" else f"--html {tmp_path}/page.html"
    time_limit = "not finished within the time limit of 100 us: 0 collectives are finished, flows 0"
    wall_limit = "not finished within the wall limit of 1e-12 s, at "
    for option, says in (("--time-limit 100us", time_limit), ("--wall-limit 1ps", wall_limit)):
        answer = cli(given, option, out)
        assert (answer.code, answer.out, len(answer.err.splitlines())) == (1, "", 1), answer
        assert says in answer.err
        assert answer.err.rstrip().endswith(f"raise the {option.split()[0].strip('-').replace('-', ' ')}")
        assert list(tmp_path.iterdir()) == []
    cli.succeeds(given, "--time-limit 1s --wall-limit 3600s")
    for option, value in (("--time-limit", "soon"), ("--wall-limit", "-3s"), ("--wall-limit", "90")):
        assert cli.refused(given, option, value).startswith(f"netsim: {option}: {value!r} ")


def test_a_comparison_over_seeds_has_the_same_limits(cli: CommandLine) -> None:
    given = "compare perm16 --on fat_tree_k4_100g --seeds 2 --jobs 1"
    limits = (("--time-limit 100us", "time limit of 100 us"), ("--wall-limit 1ps", "wall limit of 1e-12 s"))
    for option, said in limits:
        code, _, err = cli(given, option)
        assert code == 1
        assert f"seed 1: not finished within the {said}" in err


def test_a_sweeps_runs_that_take_too_long_have_failed(here: Path, cli: CommandLine) -> None:
    saved(here / "study.toml", 'trace = "perm16"\ntopology = "fat_tree_k4_100g"\n[grid]\nseed = [1]\n')
    code, _, err = cli("sweep study.toml --out out --jobs 1 --wall-limit 1ps")
    assert (code, "1 run failed" in err) == (1, True)
    cli.succeeds("sweep study.toml --out out --jobs 1 --wall-limit 3600s --retry-failed")


def test_the_clock_is_looked_at_where_ranks_only_compute() -> None:
    def job(rank: Rank) -> Steps:
        while True:
            yield rank.compute("1us")

    said = failure(netsim.simulate, job, "fat_tree_k4_100g", ranks=2, wall_limit="0.2s")
    assert re.search(r"wall limit of 0\.2 s, at .*: 0 collectives are finished, none is under way", said)


def test_ctrl_c_is_told_to_who_asks_and_to_who_listened_before() -> None:
    asked: list[int] = []
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    before = signal.set_wakeup_fd(theirs)
    try:
        with pytest.raises(KeyboardInterrupt), heard_meanwhile(lambda: asked.append(1)):  # noqa: PT012
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)
        assert asked == [1]
        assert os.read(ours, 10) == bytes([signal.SIGINT])
        assert signal.set_wakeup_fd(theirs) == theirs
    finally:
        signal.set_wakeup_fd(before)


ENDLESS = """
import sys
import netsim
from netsim.topology import LeafSpine
from tests.traffic import flows
import netsim.simulation.fabric, netsim.simulation.progress_interval, netsim.simulation
advance = netsim.simulation.fabric.advance
def told(*arguments):
    print("in the core", flush=True)
    return advance(*arguments)
netsim.simulation.get_ready()
netsim.simulation.fabric.advance = told
netsim.simulation.progress_interval.FIRST_STEPS = 1 << 40  # what a run's quiet beginning may lead to
def job(rank):
    yield rank.all_to_all("64GiB")
netsim.simulate(job, LeafSpine(leaves=4, spines=4, hosts_per_leaf=4, delay="1ms"), ranks=16, transport="none")
"""


def test_ctrl_c_reaches_the_core_in_the_middle_of_a_call() -> None:
    """One call of `advance` would go on for hours: it comes back at once."""
    process = started("-c", ENDLESS)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)  # it would not end for hours
    assert err.rstrip().endswith("KeyboardInterrupt"), err


def test_what_is_kept_of_queues_does_not_grow_with_simulated_time() -> None:
    """A packet that waits for seconds behind another is not noted every few microseconds."""
    rows = []
    for rate in ("1Gb/s", "1Mb/s", "10Kb/s"):
        fabric = LeafSpine(leaves=1, spines=1, hosts_per_leaf=3, rate=rate, delay="1us", buffer="unlimited")
        trace = flows(3, [(0, 2), (1, 2)], 100_000)
        result = netsim.simulate(trace, fabric, transport={"control": "none", "timeout": "1000s"})
        rows.append(len(result.queues))
    assert min(rows) > 0
    assert max(rows) < 1500, rows


def test_hours_of_computing_between_operations_cost_no_memory() -> None:
    def of(seconds: int) -> Callable[[Rank], Steps]:
        def job(rank: Rank) -> Steps:
            for _ in range(3):
                yield rank.all_reduce("1MiB")
                yield rank.compute(f"{seconds}s")

        return job

    short, long = (netsim.simulate(of(seconds), "fat_tree_k4_100g", ranks=16) for seconds in (1, 3600))
    assert np.array_equal(short.flows["packets"], long.flows["packets"])
    assert len(long.queues) <= max(len(short.queues), 2 * 96 * 128)
