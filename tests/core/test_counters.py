"""What is read off a world from outside: queue samples are the twin's queues, and thinned out when there are many."""

from dataclasses import replace

import pytest

from netsim.core.observe import counters
from netsim.core.observe.counters import busy_ps, packets_sent
from tests.core.scenario_runs import CoreRun, play_core
from tests.reference.scenarios.networks import MICROSECOND, incast, queue, star
from tests.reference.scenarios.plain import SCENARIOS
from tests.reference.scenarios.scenario import Scenario, build_twin, one


@pytest.fixture(autouse=True)
def _look_every_microsecond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "FIRST_INTERVAL_PS", MICROSECOND)


INCAST = Scenario("incast", star(5, delays_ns=(1003, 997), at=queue(400)), one(incast(4, 300_000)), window=100)


def samples_of(run: CoreRun) -> list[tuple[int, int, int]]:
    columns = run.fabric.samples.columns()
    return list(zip(*(columns[name].tolist() for name in ("time_ps", "link", "bytes")), strict=True))


def test_every_sample_is_what_the_twin_holds_at_that_moment() -> None:
    samples = samples_of(play_core(INCAST))
    twin = build_twin(INCAST)
    for at, link, held in samples:
        if at > twin.now:
            twin.run(at)
        assert twin.ports[link].filled["data"] == held, f"link {link} at {at} ps"
    assert len(samples) > 50
    assert {link for _, link, _ in samples} == {1}  # from the switch to host 0: nothing else ever queues
    assert max(held for *_, held in samples) > 100 * 4160


def test_samples_come_at_regular_times_as_long_as_something_waits() -> None:
    times = [at for at, *_ in samples_of(play_core(INCAST))]
    assert times == list(range(times[0], times[-1] + 1, MICROSECOND))
    assert times[0] <= 3 * MICROSECOND


def test_too_many_samples_are_thinned_out_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = samples_of(play_core(INCAST))
    monkeypatch.setattr(counters, "MOST_SAMPLE_TIMES", 12)
    run = play_core(INCAST)
    thin, interval_ps = samples_of(run), run.fabric.samples.interval_ps
    assert interval_ps in (8 * MICROSECOND, 16 * MICROSECOND)
    assert 5 <= len(thin) <= 13
    assert thin == [sample for sample in whole if sample[0] % interval_ps == 0]


def test_an_empty_network_has_no_samples() -> None:
    run = play_core(SCENARIOS["one_packet"])
    assert samples_of(run) == []


def test_an_idle_network_is_not_looked_at_again_and_again() -> None:
    run = play_core(Scenario("late", star(2), one([(0, 1, 0, 4096, ())], 50_000 * MICROSECOND, 0)))
    assert 0 < run.fabric.world.progress[0]["sample_calls"] < 2_000  # not one for each of the 50,000 microseconds


def test_queues_after_a_long_wait_are_sampled_as_often_as_at_once() -> None:
    late = replace(INCAST, collectives=one(incast(4, 300_000), *[50_000 * MICROSECOND] * 5))
    at_once, later = samples_of(play_core(INCAST)), samples_of(play_core(late))
    assert len(later) == pytest.approx(len(at_once), abs=2)


@pytest.mark.parametrize("name", ["two_switches_slow_middle", "odd_bytes_at_600g"])
def test_links_are_busy_as_long_as_their_packets_take(name: str) -> None:
    run, twin = play_core(SCENARIOS[name]), build_twin(SCENARIOS[name]).ended()
    for number, port in enumerate(twin.ports):
        exact = port.count.bytes * 8 * 10**12 / port.link.rate_bps
        assert abs(int(busy_ps(run.fabric.world)[number]) - exact) <= 1 + port.count.packets
        assert int(packets_sent(run.fabric.world)[number]) == port.count.packets
