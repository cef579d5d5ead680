"""`netsim validate`: each experiment passes, each figure can fail; the published matrices themselves where they are."""

import os
from importlib import import_module
from pathlib import Path

import pytest

import netsim
from netsim.errors import RunError
from netsim.validate import EXPERIMENTS, Experiment, bench, chance, exact, fairness, lossless, ultra, validate
from netsim.validate.bench import ULTRA, ULTRA_QUEUE, fat_tree, last_ack_us, permutation
from netsim.validate.nouns import at_least, between, exactly, near, said
from tests.cli.command_line import CommandLine
from tests.inputs import refusal

SLOW = {"roce-incast", "roce-ring", "roce-permutation", "roce-all-to-all", "permutation-1024", "two-flows", "losses"}
EVERY_DAY = [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in EXPERIMENTS]


@pytest.mark.parametrize("name", EVERY_DAY)
def test_published_figures_are_met(name: str) -> None:
    findings = list(validate([name]))
    assert findings
    assert [each for each in findings if not each.holds] == []


@pytest.mark.parametrize(
    ("figure", "holds"),
    [
        (exactly("", 7, 7), True),
        (exactly("", 7, 8), False),
        (near("", 100, 104, 0.05), True),
        (near("", 100, 106, 0.05), False),
        (near("", 100, 94, 0.05), False),
        (between("", 194, 213, 227, share=0.07), True),
        (between("", 194, 213, 229, share=0.07), False),
        (between("", 194, 213, 180, share=0.07), False),
        (at_least("", 5, 4.9), False),
        (said("", "yes", "no", False), False),
    ],
)
def test_a_figure_holds_within_its_tolerance_only(figure: object, holds: bool) -> None:
    assert vars(figure)["holds"] is holds


def test_permutations_leave_no_one_out_and_stay_apart() -> None:
    for hosts, apart in ((16, 4), (128, 1), (32, 8)):
        pairs = permutation(hosts, 3, apart=apart)
        assert sorted(s for s, _ in pairs) == sorted(t for _, t in pairs) == list(range(hosts))
        assert all(s // apart != t // apart for s, t in pairs)


def test_the_command_prints_a_line_per_figure(cli: CommandLine) -> None:
    _, out, err = cli.succeeds("validate --only dcqcn-thresholds")
    assert "pass  31 senders at line rate: drops: expected 0, got 0" in out
    assert out.endswith("3 of 3 figures pass\n")
    assert "dcqcn-thresholds" in err


class RanError(Exception):
    """The simulator, or its router, was asked."""


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_finds_nothing_before_something_ran(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def ran(*_: object, **__: object) -> None:
        raise RanError

    for module in (bench, chance, exact, fairness, lossless, ultra, import_module("netsim.validate.connectx5")):
        for runs in ("simulate", "slowdowns"):
            if hasattr(module, runs):
                monkeypatch.setattr(module, runs, ran)
    fairness.one_and_a_later_one.cache_clear()
    with pytest.raises(RanError):
        next(iter(EXPERIMENTS[name].run(False)))


def test_json_is_every_finding(cli: CommandLine) -> None:
    findings = cli.json("validate --only dcqcn-thresholds")
    assert len(findings) == 3
    assert set(findings[0]) == {"experiment", "figure", "source", "expected", "got", "difference", "holds"}


def test_a_miss_and_a_broken_run_end_with_one(monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    def broken(full: bool) -> object:
        yield near("halves", 100, 50, 0.05, " us")
        raise RunError("nothing moves")

    monkeypatch.setitem(EXPERIMENTS, "dcqcn-thresholds", Experiment("nowhere", broken))  # type: ignore[arg-type]
    code, out, _ = cli("validate --only dcqcn-thresholds")
    assert code == 1
    assert "FAIL  halves: expected 100.00 us +- 5 %, got 50.00 us, difference -50.00%" in out
    assert "nothing moves" in out
    assert "0 of 2 figures pass" in out


def test_an_unknown_experiment_is_refused() -> None:
    assert "did you mean 'incast-15'" in refusal(list, validate(["incst-15"]))


def _samples() -> Path:
    """Where the published matrices lie, if they do: beside the checkout, or where the variable says."""
    beside = [parent / "shared" / "samples" / "htsim" for parent in Path(__file__).resolve().parents]
    named = Path(os.environ.get("NETSIM_HTSIM_SAMPLES", "nowhere"))
    return next((folder for folder in [named, *beside] if folder.is_dir()), named)


SAMPLES = _samples()
needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the published files are not part of the repository")


def published(matrix: str, topology: object, transport: str = "uec", **settings: object) -> float:
    trace = netsim.load_trace(SAMPLES / matrix)
    return last_ack_us(netsim.simulate(trace, topology, transport=transport, packet=ULTRA, **settings))  # type: ignore[arg-type]


@needs_samples
def test_the_published_matrices_themselves() -> None:
    small = fat_tree(4, **ULTRA_QUEUE)
    assert published("one.cm", small) == pytest.approx(176.2, rel=0.002)
    assert published("incast.cm", small) == pytest.approx(2478.5, rel=0.05)
    assert 194 * 0.93 < published("perm_16n_16c_2MB.cm", small) < 213 * 1.07
    spine = netsim.load_topology(SAMPLES / "leaf_spine_tiny.topo", sets=[])
    queues = netsim.load_topology({"base": str(SAMPLES / "leaf_spine_tiny.topo"), **ULTRA_QUEUE})
    assert spine.build().counts() == queues.build().counts()
    assert published("perm_32n_32c_2MB.cm", queues) == pytest.approx(732.6, rel=0.10)


@needs_samples
@pytest.mark.slow
def test_the_published_permutation_of_1024_hosts() -> None:
    large = fat_tree(16, **ULTRA_QUEUE)
    sprayed = published("perm_1024n_1024c_0u_2000000b.cm", large)
    single = published("perm_1024n_1024c_0u_2000000b.cm", large, routing="ecmp")
    assert 194 * 0.93 < sprayed < 213 * 1.07
    assert 4 * sprayed < single < 6 * sprayed
