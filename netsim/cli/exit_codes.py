"""What ends a command: the exit code and the one line on stderr for each way a command can stop."""

import _thread
import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from netsim.errors import InputError, NetsimError, one_line

USER_MISTAKE = 2
FAILED_RUN = 1
INTERRUPTED = 130  # 128 + SIGINT, what shells report
AGAIN_SECONDS = 0.01


@contextmanager
def interrupts_heard() -> Iterator[None]:
    """Ctrl-C in a destructor, where nothing can be raised, would be shown and lost: give it again a moment later."""
    before = sys.unraisablehook

    def hook(what: "sys.UnraisableHookArgs") -> None:
        if what.exc_type is KeyboardInterrupt:
            threading.Timer(AGAIN_SECONDS, _interrupt_main).start()
        else:
            before(what)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupt_main() -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)  # a true signal, which ends a wait in the system too
    else:
        _thread.interrupt_main()


def leave(error: BaseException) -> int:
    """Say on stderr, in one line, why the command stopped; return its exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else FAILED_RUN
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return _say("interrupted", INTERRUPTED)
    if isinstance(error, BrokenPipeError):
        return _close_quietly()
    if isinstance(error, OSError):
        return _of_the_system(error)
    if isinstance(error, NetsimError):
        return _say(str(error), USER_MISTAKE if isinstance(error, InputError) else FAILED_RUN)
    if hasattr(error, "format_message"):  # typer's own: an unknown option, a missing argument
        return _usage(error.format_message())
    if isinstance(error, MemoryError):
        return _say("out of memory; take fewer ranks, fewer bytes or bigger chunks", FAILED_RUN)
    return _bug(error)


def _usage(message: str) -> int:
    if message.startswith("Usage:"):  # no arguments at all: the help text is the answer
        sys.stderr.write(message + "\n")
        return USER_MISTAKE
    return _say(f"{message.rstrip('.')}; see 'netsim --help'", USER_MISTAKE)


def _bug(error: BaseException) -> int:
    if os.environ.get("NETSIM_TRACEBACK"):
        traceback.print_exception(error)
    kind = type(error).__name__
    return _say(
        f"a fault in netsim itself: {kind}: {error}; NETSIM_TRACEBACK=1 shows where, please report it", FAILED_RUN
    )


def _of_the_system(error: OSError) -> int:
    """What the system refuses: a full disk behind stdout, a folder that nobody may read, a name that is too long."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):  # Python would try it once more at its end, and complain
        _close_quietly()
    what = os.strerror(error.errno) if error.errno else str(error)
    code = USER_MISTAKE if error.errno == errno.ENAMETOOLONG else FAILED_RUN
    return _say(f"{error.filename}: {what}" if error.filename else f"{what}; look at where the output goes", code)


def _say(message: str, code: int) -> int:
    with suppress(OSError, ValueError):  # where stderr is closed or full, nobody listens
        sys.stderr.write(f"netsim: {one_line(message)}\n")
        sys.stderr.flush()
    return code


def _close_quietly() -> int:
    """The reader of our output went away (`netsim list | head -1`): say nothing, also not while Python shuts down."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = None
    return FAILED_RUN
