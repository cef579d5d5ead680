"""PyTorch profiler traces (Kineto, Chrome trace format, .json or .json.gz): one file for each rank.

A collective shows up to four times: as `record_param_comms` and as an annotation when it was called, as a kernel and
as an annotation of the GPU when it ran. One kind is read: kernels where they tell sizes, else calls, else annotations.
"""

from __future__ import annotations

from collections import Counter

from netsim.errors import InputError
from netsim.traces.recognise import recogniser
from netsim.traces.torch.calls import RankFile
from netsim.traces.torch.job import reader
from netsim.traces.torch.kineto_events import KERNELS, Event, KinetoFile, scan

TRANSFERS = ("send", "recv")
RECORD_SHAPES = "profile with PyTorch 2.2 or newer, or with torch.profiler.profile(record_shapes=True)"
recognises = recogniser(
    r'\s*(?:\{|\[\s*\{\s*"(?:ph|name|cat)")',
    r'"(?:traceEvents|deviceProperties|distributedInfo|schemaVersion)"\s*:|"ph"\s*:\s*"[XMBEifst]"',
)


def choose(seen: KinetoFile) -> RankFile:
    """Choose the kind of event that tells most, and give its calls."""
    kernels, calls = [each for each in seen.kernels if each.recorded], [each for each in seen.calls if each.recorded]
    if kernels:
        chosen = _kernels(seen, kernels, calls)
    elif calls:
        chosen = _numbered(_without_inner(calls))
        seen.assumed.append("times are of the calls, not of what ran on the GPU: no computing between them")
    elif any(each.recorded for each in seen.annotations):
        chosen = _annotations(seen)
    else:
        raise _nothing(seen)
    for order, event in enumerate(sorted(chosen, key=lambda each: each.start_ps)):
        if event.recorded is not None:
            event.recorded.order = order
            seen.recorded.append(event.recorded)
    if seen.waits:
        seen.skipped["wait and init"] += seen.waits
    return seen


read = reader(lambda path: choose(scan(path)), "profiler events of collectives")


def _kernels(seen: KinetoFile, kernels: list[Event], calls: list[Event]) -> list[Event]:
    """Take kernels; but sends and receives from their calls where one kernel does several of them at once."""
    transfers = [each for each in calls if each.op in TRANSFERS]
    alone = [each for each in kernels if each.recorded and each.recorded.op in TRANSFERS]
    if len(transfers) > len(alone):
        kernels = [each for each in kernels if each not in alone]
        recorded = f"{len(transfers):,} sends and receives are taken from their calls, without times"
        seen.assumed.append(f"{recorded}: a kernel does several of them ({len(alone):,} kernels)")
        for each in transfers:
            if each.recorded is not None:
                each.recorded.start_ps, each.recorded.stream = None, "transfers"
        return kernels + _numbered(transfers)
    if calls and len(calls) != len(kernels):
        recorded = f"{len(kernels):,} kernels are read, not the {len(calls):,} calls that were recorded"
        seen.assumed.append(recorded)
    return kernels


def _numbered(calls: list[Event]) -> list[Event]:
    """Let sends and receives start together that follow each other with one number: they are one batch."""
    batch, last = 0, ("", -1)
    for event in sorted(calls, key=lambda each: each.start_ps):
        if event.recorded is None or event.recorded.op not in TRANSFERS:
            last = ("", -1)
            continue
        key = (event.recorded.group, event.recorded.seq)
        batch += event.recorded.seq < 0 or key != last
        event.recorded.batch, last = batch, key
    return calls


def _annotations(seen: KinetoFile) -> list[Event]:
    """Take sizes from annotations, and times from kernels where each has its own."""
    annotations = [each for each in seen.annotations if each.recorded]
    seen.assumed.append("sizes are estimated from the shapes of inputs (older PyTorch)")
    if len(annotations) < len(seen.annotations):
        seen.skipped["annotations without shapes"] += len(seen.annotations) - len(annotations)
    ordered = sorted(annotations, key=lambda event: event.start_ps)
    for kernel, ops in KERNELS.items():
        ran = sorted((each for each in seen.kernels if each.op == kernel), key=lambda event: event.start_ps)
        called = [event for event in ordered if event.op in ops]
        if len(ran) != len(called):
            left = f"{len(ran):,} {kernel} kernels for {len(called):,} calls: their times are left out"
            seen.assumed += [left] if ran else []
            continue
        for event, kernel_event in zip(called, ran, strict=True):
            if event.recorded is not None:
                event.recorded.start_ps, event.recorded.duration_ps = kernel_event.start_ps, kernel_event.duration_ps
    return annotations


def _nothing(seen: KinetoFile) -> InputError:
    """Say why there is nothing to read."""
    where = str(seen.path)
    found = [
        f"{count:,} {op} {kind}"
        for kind, events in (("kernels", seen.kernels), ("annotations", seen.annotations))
        for op, count in sorted(Counter(event.op for event in events).items())
    ]
    if found or seen.nameless:
        what = f"does not tell the sizes of its collectives ({', '.join(found) or 'nothing but their times'})"
        return InputError(what, where=where, hint=RECORD_SHAPES)
    others = ", ".join(f"{count:,} {name}" for name, count in sorted(seen.others.items()))
    what = f"there are no NCCL collectives in this profiler trace{f' (but {others})' if others else ''}"
    hint = "netsim reads what NCCL did: profile a job that uses it, with ProfilerActivity.CUDA"
    return InputError(what, where=where, hint=hint)


def _without_inner(calls: list[Event]) -> list[Event]:
    """Leave out the all-reduce that a barrier makes: it is recorded inside of it, on the same thread."""
    kept: list[Event] = []
    ends: dict[str, int] = {}
    for event in sorted(calls, key=lambda each: (each.start_ps, -each.duration_ps)):
        if event.op == "all_reduce" and event.start_ps < ends.get(event.thread, event.start_ps):
            continue
        if event.op == "barrier":
            ends[event.thread] = event.start_ps + event.duration_ps
        kept.append(event)
    return kept
