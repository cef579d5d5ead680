"""simulate: the same scenario and seed give the same bytes, limits end a run, and what cannot be meant is refused."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

import netsim
from netsim import Result
from netsim.simulation.job import Rank
from tests.inputs import failure, refusal
from tests.traffic import flows

ROOT = Path(__file__).parents[2]
FABRIC = "fat_tree_k4_100g"
US = 1_000_000
CROSSING = flows(16, [(rank, (rank + 8) % 16) for rank in range(16)], 200_000)


def digest(result: Result, folder: Path) -> dict[str, str]:
    """SHA-256 of every Parquet file of the saved result."""
    result.save(folder)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.parquet"))}


@pytest.mark.parametrize("transport", ["dctcp", "window", "none"])
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path, transport: str) -> None:
    runs = [
        digest(netsim.simulate(CROSSING, FABRIC, routing="ecmp", transport=transport, seed=seed), tmp_path / str(n))
        for n, seed in enumerate((7, 7, 8))
    ]
    assert list(runs[0]) == [f"{table}.parquet" for table in ("collectives", "flows", "links", "parts", "queues")]
    assert runs[0] == runs[1]
    for table in ("collectives", "flows", "links", "parts"):
        assert runs[0][f"{table}.parquet"] != runs[2][f"{table}.parquet"], table


def test_where_nothing_is_drawn_the_seed_changes_nothing(tmp_path: Path) -> None:
    fabric = {"base": FABRIC, "ecn": "off"}
    one, other = (
        digest(netsim.simulate(CROSSING, fabric, routing="single", transport="none", seed=seed), tmp_path / str(seed))
        for seed in (7, 8)
    )
    assert one == other


def test_a_run_in_between_leaves_no_trace(tmp_path: Path) -> None:
    first = digest(netsim.simulate(CROSSING, FABRIC, seed=3), tmp_path / "first")
    netsim.simulate("ring_all_reduce_16", "rail_optimized_16", seed=4)
    assert digest(netsim.simulate(CROSSING, FABRIC, seed=3), tmp_path / "second") == first


def test_a_saved_result_can_be_run_again_to_the_same_bytes(tmp_path: Path) -> None:
    first = digest(netsim.simulate(CROSSING, FABRIC, seed=5), tmp_path / "first")
    again = netsim.simulate(netsim.load_scenario(tmp_path / "first" / "run.json"))
    assert digest(again, tmp_path / "second") == first


def test_a_run_past_its_time_limit_ends_with_an_error_and_one_within_it_does_not() -> None:
    took = netsim.simulate(CROSSING, FABRIC).summary["completion_time_ps"]
    assert netsim.simulate(CROSSING, FABRIC, time_limit=took).summary["completion_time_ps"] == took
    assert "not finished within the time limit" in failure(netsim.simulate, CROSSING, FABRIC, time_limit=took - 1)


def test_progress_tells_the_time_and_how_many_collectives_and_hops_there_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.simulation.progress_interval.TELL_SECONDS", 0)  # whenever the core comes back
    told: list[tuple[int, float, int, int]] = []
    result = netsim.simulate("ring_all_reduce_16", FABRIC, progress=lambda *now: told.append(now))
    now_ps, done, total, hops = zip(*told, strict=True)
    assert len(told) > 10
    assert (list(done), list(hops)) == (sorted(done), sorted(hops))
    assert set(total) == {len(result.collectives)}
    assert 0 <= min(now_ps) < max(now_ps) <= result.summary["completion_time_ps"] + 10 * US
    assert 0 < hops[-1] <= result.summary["packet_hops"]


def test_a_job_without_any_operation_is_over_at_once() -> None:
    def job(rank: Rank) -> Any:
        yield rank.compute(f"{rank.number}us")

    result = netsim.simulate(job, FABRIC, ranks=3)
    assert (len(result.collectives), result.summary["completion_time_ps"]) == (0, 2 * US)


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        ((CROSSING,), {}, "no topology"),
        ((lambda rank: iter(()), FABRIC), {}, "no number of ranks"),
        ((CROSSING, FABRIC), {"transport": "tcp"}, "tcp"),
        ((CROSSING, "leaf_spine_33_1to1"), {}, "leaf_spine_33_1to1"),
        ((lambda rank: iter(()), FABRIC), {"ranks": 17}, "17 ranks"),
        ((CROSSING, FABRIC), {"time_limit": "soon"}, "soon"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: Any, settings: dict[str, Any], said: str) -> None:
    assert said in refusal(netsim.simulate, *arguments, **settings)


def test_a_scenario_is_given_alone() -> None:
    scenario = netsim.simulate(CROSSING, FABRIC).scenario
    for more in ({"topology": FABRIC}, {"seed": 2}):
        assert "already says everything" in refusal(netsim.simulate, scenario, **more)
