"""Write the built-in traces beside this file: `python traces/make.py`, from the checkout.

The sizes of the three DeepSeek-V3 traces follow the shapes of the model (hidden size 7168, vocabulary 129280, 61 layers
of which 3 are dense) and the all-reduces of the first version of the published inference code: 181 in one pass. Its
later version adds the shared experts to the others before it reduces both, in fp32: 123 all-reduces of as many bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from netsim.traces import Operation, Trace, write_native

KIB, MIB = 1 << 10, 1 << 20
SIZES = (64 * KIB, MIB, 16 * MIB)
FLOW_BYTES = 2_000_000  # as in htsim's published permutation and incast runs

HIDDEN, VOCABULARY, LAYERS, DENSE_LAYERS = 7168, 129_280, 61, 3
BF16, FP32 = 2, 4  # bytes


def main(folder: Path) -> None:
    """Write every built-in trace into a folder."""
    for trace in builtin():
        write_native(trace, folder / f"{trace.name}.jsonl")


def builtin() -> list[Trace]:
    """Make all built-in traces."""
    return [
        on_world("ring_all_reduce_16", (("all_reduce", size, "ring") for size in SIZES)),
        on_world("tree_all_reduce_16", (("all_reduce", size, "tree") for size in SIZES)),
        on_world("all_to_all_16", (("all_to_all", size, None) for size in SIZES)),
        deepseek("deepseek_v3_decode_16", batch=1, tokens=1),
        deepseek("deepseek_v3_prefill_16", batch=1, tokens=1024),
        deepseek_later("deepseek_v3_later_decode_16", batch=1, tokens=1),
        flows("perm16", 16, [(rank, (rank + 8) % 16) for rank in range(16)]),
        flows("perm128", 128, [(rank, (rank + 64) % 128) for rank in range(128)]),
        flows("incast16", 16, [(rank, 15) for rank in range(15)]),
    ]


def on_world(name: str, calls: Iterable[tuple[str, int, str | None]], notes: tuple[str, ...] = ()) -> Trace:
    """Make a trace of 16 ranks that all call the same collectives one after the other."""
    ranks = tuple(range(16))
    operations = tuple(
        Operation(op, "world", ranks, size, "bf16", algorithm=algorithm) for op, size, algorithm in calls
    )
    return Trace(name, len(ranks), {}, operations, notes=notes)


def deepseek(name: str, batch: int, tokens: int) -> Trace:
    """Make one forward pass of DeepSeek-V3 on 16 ranks that split tensors and experts: 181 all_reduce, 1 all_gather."""
    reductions = 1 + LAYERS + DENSE_LAYERS + 2 * (LAYERS - DENSE_LAYERS)
    hidden, logits = BF16 * batch * tokens * HIDDEN, BF16 * batch * VOCABULARY
    notes = (
        f"one forward pass of DeepSeek-V3 in bf16 on 16 ranks: batch {batch}, {tokens} tokens of each sequence",
        "all_reduce after embedding (1), attention (61), dense layers (3), shared experts (58), experts (58)",
        "all_gather of the last token's logits",
        "derived from the shapes of the model, not recorded: no time is spent computing between the operations",
    )
    return on_world(name, [("all_reduce", hidden, None)] * reductions + [("all_gather", logits, None)], notes)


def deepseek_later(name: str, batch: int, tokens: int) -> Trace:
    """Make the same pass as the later code runs it: 65 all_reduce in bf16, 58 in fp32, 1 all_gather."""
    world, elements = tuple(range(16)), batch * tokens * HIDDEN
    plain = Operation("all_reduce", "world", world, BF16 * elements, "bf16")
    experts = Operation("all_reduce", "world", world, FP32 * elements, "fp32")
    logits = Operation("all_gather", "world", world, BF16 * batch * VOCABULARY, "bf16")
    layers = [plain, plain] * DENSE_LAYERS + [plain, experts] * (LAYERS - DENSE_LAYERS)
    notes = (
        f"one forward pass of DeepSeek-V3 on 16 ranks, later code: batch {batch}, {tokens} tokens of each sequence",
        "all_reduce in bf16 after embedding (1), attention (61), dense layers (3); in fp32 after all experts (58)",
        "all_gather of the last token's logits",
        "derived from the shapes of the model, not recorded: no time is spent computing between the operations",
    )
    return Trace(name, len(world), {}, (plain, *layers, logits), notes=notes)


def flows(name: str, ranks: int, pairs: list[tuple[int, int]]) -> Trace:
    """Make a trace of flows of 2 MB that all start together."""
    matrix = tuple((source, target, FLOW_BYTES) for source, target in pairs)
    everybody = tuple(range(ranks))
    operation = Operation("flows", None, everybody, FLOW_BYTES * len(pairs), flows=matrix)
    return Trace(name, ranks, {}, (operation,))


if __name__ == "__main__":
    main(Path(__file__).parent)
