"""The command line: one thin file per command, which parses, calls and prints, and never computes.

A command's --help is the docstring of its file.
"""

import atexit
import gc
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from netsim.cli import listing
from netsim.cli.exit_codes import interrupts_heard, leave
from netsim.version import __version__

app = typer.Typer(
    rich_markup_mode=None,  # help as plain text: quick to load, good in a pipe
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        print(f"netsim {__version__}")
        raise typer.Exit


@app.callback()
def netsim(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Replay the collectives of a GPU job over a network, packet by packet, and see where the time goes.

    \b
      netsim list                                                   what there is
      netsim run deepseek_v3_decode_16 --on rail_optimized_16       one trace on one fabric
      netsim report results/perm16 --open                           a saved run as a page of pictures
      netsim compare perm16 --on fat_tree_k4_100g --on leaf_spine_32_4to1
      netsim sweep my_study.toml                                    many settings, on all cores
      netsim explain results/first                                  which link a saved run waited for, and why
      netsim describe fat_tree_k8_400g                              counts and bisection
      netsim profile deepseek_v3_decode_16                          what a job asks of the network
      netsim plan all_reduce --ranks 8 --bytes 64MiB                who sends what to whom
      netsim convert nccl.rank*.log --out job.jsonl                 a trace in another format
      netsim selfcheck fat_tree_k4_100g                             what must hold on any fabric
      netsim validate                                               published experiments, run again

    Tables go to stdout, progress and warnings to stderr; --json is for machines. Every command has its own --help.
    """


COMMANDS = (  # each is a file with a function of that name
    "run", "compare", "report", "trace", "sweep", "explain", "describe", "profile", "convert", "plan", "selfcheck",
    "validate",
)  # fmt: skip
for _name in COMMANDS:
    _file = import_module(f"netsim.cli.{_name}")
    app.command(_name, help=_file.__doc__)(getattr(_file, _name))
app.command("list", help=listing.__doc__)(listing.list_all)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (default: this process's own) and return its exit code; never raises."""
    said = set[str]()
    warnings.showwarning = lambda message, *_, **__: _warn(str(message), said)
    atexit.register(gc.freeze)  # Python need not look for garbage at its end: that takes half a second
    try:
        command = typer.main.get_command(app)
        given = sys.argv[1:] if arguments is None else list(arguments)
        # not command.main: that has exit codes of its own
        with interrupts_heard(), command.make_context("netsim", given) as context:
            command.invoke(context)
        sys.stdout.flush()
        return 0
    except BaseException as error:
        return leave(error)


def _warn(message: str, said: set[str]) -> None:
    """Say each warning once, however many parts of a run come upon it."""
    if message not in said:
        said.add(message)
        sys.stderr.write(f"netsim: warning: {' '.join(message.split())}\n")
