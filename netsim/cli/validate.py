"""Run published experiments: for each figure what was expected, what came out, and whether it is near enough.

Exit code 1 if a figure is not.

\b
  netsim validate
  netsim validate --only incast-15 --only hashed-paths
  netsim validate --full --json
"""

from typing import Annotated

import typer

from netsim.cli import show
from netsim.cli.choices import Json, option
from netsim.cli.exit_codes import FAILED_RUN


def validate(
    full: Annotated[bool, typer.Option("--full", help="The long experiments too, and all at full size.")] = False,
    only: Annotated[list[str], option("--only", "NAME", "One experiment; may be repeated.")] = [],  # noqa: B006  typer wants the plain default
    as_json: Json = False,
) -> None:
    from netsim.cli.work import say_if_compiling
    from netsim.validate import validate

    say_if_compiling()
    findings, experiment = [], ""
    for finding in validate(only, full=full, tell=show.note):
        findings.append(finding)
        if as_json:
            continue
        if finding.experiment != experiment:
            experiment = finding.experiment
            print(f"{experiment} ({finding.source})")
        verdict = "pass" if finding.holds else "FAIL"
        text = f"expected {finding.expected}, got {finding.got}, difference {finding.difference}"
        print(f"  {verdict}  {finding.figure}: {text}", flush=True)
    if as_json:
        show.as_json([vars(finding) for finding in findings])
    else:
        print(f"{sum(each.holds for each in findings)} of {len(findings)} figures pass")
    if not all(finding.holds for finding in findings):
        raise typer.Exit(FAILED_RUN)
