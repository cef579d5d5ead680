"""Real traces, as they came, are replayed from end to end by the command line, on a fat tree and on rails.

Each row is what a user types. What does not say what all ranks do needs --fill-missing-ranks; what moves gigabytes is
cut into larger packets, so that it takes seconds rather than minutes.
"""

import json

import pytest

from netsim.cli import main
from tests.traces.sample_files import needs_samples, sample

pytestmark = needs_samples

FILL = ("--fill-missing-ranks",)
SLOW = (pytest.mark.slow, pytest.mark.filterwarnings("ignore:packet.payload"))
LARGE = ("--set", "packet.payload=64KiB", "--set", "packet.scale_up_payload=256KiB")
SMALL_NETWORKS = ("fat_tree_k4_400g", "rail_optimized_16")
LARGE_NETWORKS = ("fat_tree_k8_400g", "rail_optimized_128")

JOBS = [  # folder, files, ranks, what is carried, what else to type
    ("nccl_log", "nccl32_*", 2, 18, ()),
    ("nccl_log", "nccl19_*", 4, 4, FILL),
    ("nccl_log", "nccl21_*", 8, 1, ()),
    ("nccl_log", "nccl31_*", 16, 2, FILL),
    ("goal", "one_send.goal", 16, 1, ()),
    ("goal", "one_send.bin", 16, 1, ()),
    ("goal", "comp.goal", 16, 1, ()),
    ("goal", "comp.bin", 16, 1, ()),
    ("goal", "binary_tree_32.goal", 32, 1, ()),
    ("goal", "binary_tree_32.bin", 32, 1, ()),
    ("chakra", "astra_all_gather*", 8, 1, ()),
    ("chakra", "astra_all_to_all*", 4, 1, ()),
    ("chakra", "astra_custom*", 8, 112, ()),
    ("flight_recorder", "*.json", 4, 22, ()),
    ("flight_recorder", "*.pickle", 4, 22, ()),
    ("kineto", "hta_nccl_data*", 2, 21, FILL),
    ("kineto", "param_dlrm*", 8, 8, FILL),
    ("pytorch_et", "param_resnet*", 2, 21, FILL),
    ("pytorch_et", "param_dlrm*", 8, 8, FILL),
    ("param", "*.json", 2, 21, FILL),
    ("simai", "simai_micro*", 8, 2, ()),
    pytest.param("kineto", "hta_16ranks*", 16, 85, (*FILL, *LARGE), marks=SLOW),
    pytest.param("kineto", "hta_sampled*", 128, 10, (*FILL, *LARGE), marks=SLOW),
    pytest.param("inspector", "insp_readme*", 8, 2, (*FILL, *LARGE), marks=SLOW),
    pytest.param("simai", "aicb_micro*", 8, 19, LARGE, marks=SLOW),
]


Capture = pytest.CaptureFixture[str]


def run(folder: str, files: str, on: str, typed: tuple[str, ...]) -> int:
    paths = [str(path) for path in sample(folder, files)]
    return main(["run", *paths, "--on", on, "--json", *typed])


@pytest.mark.parametrize(("folder", "files", "ranks", "carried", "typed"), JOBS)
def test_replayed(folder: str, files: str, ranks: int, carried: int, typed: tuple[str, ...], capsys: Capture) -> None:
    for on in SMALL_NETWORKS if ranks <= 16 else LARGE_NETWORKS:
        code, said = run(folder, files, on, typed), capsys.readouterr()
        assert code == 0, said.err
        assert ("do the same by symmetry" in said.err) == ("--fill-missing-ranks" in typed)
        summary = json.loads(said.out)
        assert summary["collectives"] == carried
        assert summary["completion_time_ps"] > 0
        assert summary["packets_delivered"] == summary["packets_injected"] - summary["packets_dropped"] > 0


def test_one_rank_of_a_chakra_set_is_replayed_and_sends_nothing(capsys: Capture) -> None:
    """ASTRA-sim's own reading too: as many ranks as files; the reader says so."""
    assert run("chakra", "chakra_pytorch_resnet*", "rail_optimized_16", ()) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["packet_hops"] == 0
    assert "one file makes one rank: nothing crosses the network" in said.err


@pytest.mark.parametrize(
    ("folder", "files", "typed", "recorded"),
    [
        ("nccl_log", "nccl19_*", (), "pass --fill-missing-ranks"),
        ("kineto", "hta_nccl_data*", (), "pass --fill-missing-ranks"),
        ("kineto", "hta_large*", FILL, "does not tell the sizes of its collectives"),
        ("kineto", "deepseek*", FILL, "DeepEP"),
        ("goal", "binary_tree_32.goal", (), "the trace has 32 ranks and the network 16 hosts; take a larger topology"),
    ],
)
def test_what_cannot_be_replayed_says_what_to_do(
    folder: str, files: str, typed: tuple[str, ...], recorded: str, capsys: Capture
) -> None:
    assert run(folder, files, "rail_optimized_16", typed) == 2
    said = capsys.readouterr()
    assert recorded in said.err.splitlines()[-1]
    assert said.out == ""
