"""Replay a trace on a fabric: how long the collectives take, where queues build, what limits.

\b
  netsim run deepseek_v3_decode_16 --on rail_optimized_16
  netsim run my_job.jsonl --on my_fabric.toml --out results/first
  netsim run nccl.rank0.log nccl.rank1.log --on fat_tree_k4_400g
  netsim run all_to_all_16 --on leaf_spine_32_4to1 --transport dctcp --seed 7
  netsim run deepseek_v3_decode_16 --on fat_tree_k4_400g --algorithm all_reduce=tree
  netsim run perm16 --on fat_tree_k4_100g --set topology.buffer=unlimited --set packet.header=58
  netsim run scenario.toml --json --time-limit 10ms --wall-limit 90s
"""

from pathlib import Path
from typing import Annotated

from netsim.cli import choices, show
from netsim.cli.choices import option


def run(
    traces: choices.Traces,
    on: Annotated[
        str | None, option("--on", "TOPOLOGY", "A built-in topology's name, a .toml or a .topo file.")
    ] = None,
    algorithm: choices.Algorithms = [],  # noqa: B006  typer wants the plain default
    preset: choices.Preset = None,
    transport: choices.Transport = None,
    routing: choices.Routing = None,
    seed: choices.Seed = None,
    sets: choices.Settings = [],  # noqa: B006
    fill_missing_ranks: choices.FillMissingRanks = False,
    out: Annotated[Path | None, option("--out", "DIR", "Save run.json, summary.json and Parquet tables here.")] = None,
    time_limit: choices.TimeLimit = None,
    wall_limit: choices.WallLimit = None,
    as_json: choices.Json = False,
) -> None:
    from netsim.cli.work import say_how_read, scenario_of, simulated
    from netsim.result import check_writable

    if out is not None:
        check_writable(out)  # before the work, not after it
    limits = choices.limits(time_limit, wall_limit)
    chosen = choices.settings(sets, algorithm, preset, transport, routing, seed)
    scenario = scenario_of(traces, on, chosen, fill=fill_missing_ranks)
    say_how_read(scenario)
    result = simulated(scenario, limits)
    if out is not None:
        result.save(out)
        show.note(f"saved in {out}")
    if as_json:
        show.as_json(result.summary)
    else:
        print(result.summary_text())
