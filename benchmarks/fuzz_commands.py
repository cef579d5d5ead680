"""Mutated saved runs, topologies and command lines, each made of a number: the same number makes the same input."""

from __future__ import annotations

import gzip
import json
import math
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz_bytes import mutated

TRACE = (
    '{"netsim": 1, "ranks": 4, "groups": {"pair": [0, 1]}}\n{"op": "all_reduce", "group": "world", "bytes": 30000}\n'
    '{"op": "compute", "ranks": [0, 1], "duration": "3us"}\n'
    '{"op": "all_gather", "group": "pair", "bytes": 4096, "recorded": {"start": "1us", "duration": "9us"}}\n'
    '{"op": "flows", "flows": [[0, 3, 20000], [1, 3, 20000], [2, 3, 20000]]}\n'
)
TOPOLOGIES = (
    (
        'kind = "leaf_spine"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nrate = "100Gb/s"\nbuffer = "40KB"\n'
        'ecn = { kmin = "8KB", kmax = "30KB", pmax = 0.5 }\n[spine]\nrate = "400Gb/s"\ndelay = "2us"\n'
    ),
    (
        'kind = "fat_tree"\nk = 4\ntiers = 3\noversubscription = 2\npfc = { xoff = "60KB", xon = "48KB" }\n'
        'trim = false\n[core]\nrate = "50GB/s"\nloss = 0.001\n'
    ),
    (
        'kind = "rail_optimized"\nservers = 2\ngpus_per_server = 2\nshared_buffer = { size = "16MB", alpha = 1 }\n'
        '[nvlink]\nrate = "3.6Tb/s"\n[nic]\ndelay = "500ns"\n[spine]\nrate = "200Gb/s"\n'
    ),
    'base = "fat_tree_k4_100g"\nbuffer = "unlimited"\ncontrol_class = "shared"\nname = "mine"\n',
    (
        'kind = "htsim"\nnodes = 8\npodsize = 4\n[tor]\nradix_down = 2\nradix_up = 2\n[agg]\nradix_down = 2\n'
        'radix_up = 1\nbundle = 1\n[core]\nradix_down = 2\nqueue_down = "100KB"\n'
    ),
    (
        "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\n"
        "Downlink_Latency_ns 500\nTier 1\nRadix_Down 2\nDownlink_speed_Gbps 200\nDownlink_Latency_ns 500\nBundle 1\n"
    ),
)
SCENARIO = (
    'trace = "job.jsonl"\nseed = 3\n[topology]\nbase = "f0.toml"\n[transport]\npreset = "uec"\n[packet]\nack = "64B"\n'
)
STUDY = f'{SCENARIO}[grid]\nseed = [1, 2]\nrouting.kind = ["ecmp", "spray"]\n'
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 7, 1 << 31, 1 << 62, 1 << 63, 10**30, 0.5, -0.5, 1e308, math.inf, math.nan),
    *("", "x", "0", "-1", "unlimited", "off", "on", "auto", "1e9", "400Gb/s", "1ps", "1B", "9" * 30, "x" * 300),
    *("\x00", "\ud800", "é", [], [1], [[1]], {}, {"a": 1}, {"kind": {}}, ["x"] * 50),
)


def value(rng: random.Random) -> Any:
    """Something that hardly fits."""
    drawn = rng.choice(VALUES)
    if rng.random() < 0.05:
        for _ in range(rng.choice((3, 40, 200))):
            drawn = [drawn] if rng.random() < 0.5 else {"a": drawn}
    return drawn


def with_one_changed(tree: Any, rng: random.Random) -> Any:
    """A tree of plain values in which one, somewhere, is another, is gone or is new."""
    inner, place = tree, None
    while isinstance(inner, dict | list) and inner:
        above, place = inner, rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        inner = above[place]
        if rng.random() < 0.3:
            break
    if place is None or rng.random() < 0.02:
        return value(rng)
    if rng.random() < 0.2:
        del above[place]
    elif rng.random() < 0.1 and isinstance(above, dict):
        above[rng.choice(("x", "kind", "base", "name", ""))] = value(rng)
    else:
        above[place] = value(rng)
    return tree


def prepare(folder: Path) -> None:
    """The files that inputs are made of, in a new folder."""
    import netsim

    (folder / "job.jsonl").write_text(TRACE)
    for number, text in enumerate(TOPOLOGIES):
        (folder / f"f{number}.toml").write_text(text)
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "study.toml").write_text(STUDY)
    for number in range(3):
        topology = folder / f"f{number}.toml"
        netsim.simulate(str(folder / "job.jsonl"), str(topology), transport="dctcp").save(folder / f"run{number}")


def saved_run(rng: random.Random, folder: Path) -> list[str]:
    """A saved run with one or two files changed, and what is made of it."""
    run = folder / "tampered"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(folder / f"run{rng.randrange(3)}", run)
    for path in rng.sample(sorted(run.iterdir()), rng.choice((1, 1, 2))):
        if path.suffix == ".json" and rng.random() < 0.8:
            path.write_text(json.dumps(with_one_changed(json.loads(path.read_bytes()), rng)))
        elif path.suffix == ".parquet" and rng.random() < 0.8:
            _change_table(path, rng)
        elif path.suffix == ".gz" and rng.random() < 0.8:
            path.write_bytes(gzip.compress(mutated(gzip.decompress(path.read_bytes()), [TRACE.encode()], rng)))
        else:
            path.write_bytes(mutated(path.read_bytes(), [TRACE.encode()], rng))
    if rng.random() < 0.5:
        _sign(run / "run.json")
    made = 4 * [["trace", "{}", "-o", "t.json.gz"], ["compare", "{}", str(folder / "run0")], ["compare", "{}", "{}"]]
    made += [["compare", "{}", "{}", "--json"], ["explain", "{}"], ["report", "{}", "-o", "page.html"]]
    made += [["run", "{}/run.json", "--time-limit", "1ms"], ["describe", "{}/trace.jsonl.gz"]]
    return [word.format(run) for word in rng.choice(made)]


def _sign(path: Path) -> None:
    """Give a run the digest of its scenario, where it has one: so that what follows is looked at, too."""
    from netsim.config import load_scenario
    from netsim.errors import NetsimError

    try:
        tree = json.loads(path.read_text())
        tree["digest"] = load_scenario(path).digest()
        path.write_text(json.dumps(tree))
    except (NetsimError, ValueError, TypeError, KeyError, OSError, RecursionError):
        pass


def _change_table(path: Path, rng: random.Random) -> None:
    """Another value, type, order or number of rows or columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    place = rng.randrange(table.num_columns)
    name, column = table.column_names[place], table.column(place)
    kind = rng.choice(("value", "value", "value", "type", "drop", "rename", "rows", "less", "none"))
    try:
        if kind == "value" and table.num_rows:
            values = column.to_pylist()
            others = (
                None,
                -1,
                0,
                1,
                5,
                10**6,
                (1 << 62) - 1,
                (1 << 63) - 1,
                -(1 << 63),
                math.nan,
                math.inf,
                "x",
                "x" * 10**5,
            )
            for _ in range(rng.choice((1, 1, len(values)))):
                values[rng.randrange(len(values))] = rng.choice(others)
            table = table.set_column(place, name, pa.array(values, column.type))
        elif kind == "type":
            table = table.set_column(place, name, column.cast(rng.choice((pa.string(), pa.float64(), pa.int32()))))
        elif kind == "drop":
            table = table.drop_columns([name])
        elif kind == "rename":
            table = table.rename_columns([each if each != name else "other" for each in table.column_names])
        elif kind == "rows":
            table = pa.concat_tables([table] * rng.choice((2, 3, 1000)))
        else:
            table = table.slice(0, rng.randrange(table.num_rows + 1) if kind == "less" else 0)
    except (pa.ArrowException, TypeError, OverflowError):
        return
    pq.write_table(table, path)


def topology(rng: random.Random, folder: Path) -> list[str]:
    """A topology with some keys or bytes changed, and what is made of it."""
    texts = [text.encode() for text in TOPOLOGIES]
    text = rng.choice(texts)
    text = mutated(text, texts, rng) if rng.random() < 0.5 else _with_other_values(text, rng)
    path = folder / rng.choice(("t.toml", "t.toml", "t.topo"))
    path.write_bytes(text)
    job, limits = str(folder / "job.jsonl"), ["--time-limit", "1ms"]
    made = [["describe", str(path)], ["run", job, "--on", str(path), *limits], ["profile", job, "--on", str(path)]]
    made += [["plan", "all_reduce", "--bytes", "1KiB", "--ranks", "4", "--on", str(path)]]
    return rng.choice(made)


def _with_other_values(text: bytes, rng: random.Random) -> bytes:
    lines = text.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(lines))
        key, sign, _ = lines[place].partition(b" = " if b" = " in lines[place] else b" ")
        lines[place] = key + sign + toml(value(rng)).encode("utf-8", "surrogatepass") if sign else b""
    return b"\n".join(lines)


def toml(drawn: Any) -> str:
    """A value as TOML might write it."""
    if isinstance(drawn, dict):
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in drawn.items()) + " }"
    if isinstance(drawn, list):
        return f"[{', '.join(map(toml, drawn))}]"
    return str(drawn) if isinstance(drawn, float) else json.dumps(drawn, ensure_ascii=False)


KEYS = (
    *("topology.buffer", "topology.k", "topology.rate", "topology.delay", "topology.ecn", "topology.pfc", "topology"),
    *("topology.loss", "topology.trim", "topology.shared_buffer", "topology.leaves", "topology.kind", "topology.base"),
    *(
        "packet.payload",
        "packet.header",
        "packet.ack",
        "packet.scale_up_payload",
        "packet",
        "seed",
        "channels",
        "chunk",
    ),
    *("transport.control", "transport.recovery", "transport.timeout", "transport.window", "transport.retries"),
    *("transport.preset", "transport", "transport.dcqcn.g", "transport.nscc", "transport.selective_repeat.window"),
    *(
        "routing.kind",
        "routing",
        "routing.pxn",
        "routing.entropies",
        "routing.gap",
        "placement.kind",
        "placement.order",
    ),
    *("algorithms.all_reduce", "algorithms", "classes", "classes.count", "classes.by_op", "trace", "x", "", "a.b.c.d"),
)
OPTIONS = (
    *("--on", "--algorithm", "--preset", "--transport", "--routing", "--seed", "--set", "--out", "--json", "--html"),
    *(
        "--time-limit",
        "--wall-limit",
        "--seeds",
        "--prices",
        "--svg",
        "--to",
        "--chunk",
        "--ranks",
        "--bytes",
        "--rows",
    ),
    *("--collective", "--detail", "--root", "--channels", "--placement", "--fill-missing-ranks", "--compare", "-o"),
    *("--dry-run", "--retry-failed", "--backend", "--only", "--full", "--version", "--help", "--controls", "--nothing"),
)
COMMANDS = (
    "run",
    "run",
    "run",
    "compare",
    "sweep",
    "describe",
    "profile",
    "convert",
    "plan",
    "explain",
    "report",
    "trace",
)
WORDS = (
    *(
        "job.jsonl",
        "perm16",
        "f0.toml",
        "f1.toml",
        "f2.toml",
        "f5.toml",
        "s.toml",
        "study.toml",
        "run0",
        "run1/run.json",
    ),
    *(
        "fat_tree_k4_100g",
        "leaf_spine_32_4to1",
        "nothing",
        ".",
        "/dev/null",
        "/dev/full",
        "out",
        "page.html",
        "x" * 300,
    ),
    *(
        "all_reduce",
        "all_reduce=tree",
        "all_to_all=x",
        "uec",
        "roce",
        "dctcp",
        "ndp",
        "spray",
        "reps",
        "goal",
        "chakra",
    ),
    *(
        "chunks",
        "packed",
        "random",
        "1ms",
        "10us",
        "1s",
        "64KiB",
        "1MiB",
        "4",
        "0",
        "-3",
        "1e3",
        "",
        " ",
        "=",
        "a=b",
        "é",
    ),
    *("9" * 30, "\udcff", "out.goal", "out.et", "out.jsonl.gz", "all", "local", "dask", "--", "-", "*", "f*.toml"),
)


def command_line(rng: random.Random, folder: Path) -> list[str]:
    """A command with some arguments that fit, and some that do not; all in the folder."""
    for name in ("out", "study_results"):
        shutil.rmtree(folder / name, ignore_errors=True)
    command = rng.choice(COMMANDS) if rng.random() < 0.95 else rng.choice((*WORDS, "list", "netsim"))
    fit = {"run": ["job.jsonl", "--on", "f0.toml"], "compare": ["job.jsonl", "--on", "f0.toml", "--on", "f1.toml"]}
    fit |= {
        "sweep": ["study.toml"],
        "plan": ["all_reduce", "--ranks", "4", "--bytes", "1KiB"],
        "profile": ["job.jsonl"],
    }
    fit |= {"convert": ["job.jsonl", "--out", "out.goal"], "describe": ["f0.toml"]}
    words = list(fit.get(command, ["run0"]))
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        change = rng.random()
        if change < 0.4:
            words += ["--set", f"{rng.choice(KEYS)}={_written(value(rng), rng)}"]
        elif change < 0.7:
            words += [rng.choice(OPTIONS), rng.choice(WORDS)]
        elif change < 0.85 and words:
            words[rng.randrange(len(words))] = rng.choice(WORDS)
        elif words:
            del words[rng.randrange(len(words))]
    if command in ("compare", "sweep"):
        words += ["--jobs", "1"]
    limits = ["--time-limit", "1ms"] if command in ("run", "compare") and rng.random() < 0.8 else []
    return [command, *words, *limits]


def _written(drawn: Any, rng: random.Random) -> str:
    text = toml(drawn) if rng.random() < 0.5 else str(drawn)
    return text.replace("\x00", "").replace("\ud800", "")  # what no argument can hold


KINDS: dict[str, Callable[[random.Random, Path], list[str]]] = {
    "saved_runs": saved_run,
    "topologies": topology,
    "command_lines": command_line,
}
