"""Check on a fabric, with small traces, what must hold on any: a line for each invariant, exit code 1 if one fails.

\b
  netsim selfcheck fat_tree_k4_100g
  netsim selfcheck rail_optimized_16 --json
  netsim selfcheck my_fabric.toml
"""

from typing import Annotated

import typer

from netsim.cli import show
from netsim.cli.choices import Json, argument
from netsim.cli.exit_codes import FAILED_RUN


def selfcheck(
    topology: Annotated[str, argument("TOPOLOGY", "A built-in name, a .toml or a .topo file.")],
    as_json: Json = False,
) -> None:
    from netsim.cli.work import say_if_compiling
    from netsim.config import load_topology
    from netsim.validate.selfcheck import INVARIANTS, selfcheck

    fabric = load_topology(topology)
    say_if_compiling()
    findings = []
    width = max(map(len, INVARIANTS))
    for finding in selfcheck(fabric):
        findings.append(finding)
        if not as_json:
            verdict = "pass" if finding.holds else "FAIL"
            print(f"{verdict}  {finding.invariant:<{width}}  {finding.measured}", flush=True)
    if as_json:
        show.as_json([vars(finding) for finding in findings])
    if not all(finding.holds for finding in findings):
        raise typer.Exit(FAILED_RUN)
