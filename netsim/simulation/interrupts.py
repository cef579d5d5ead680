"""Ctrl-C while a kernel runs: Python hears it between two calls only, so a thread asks the kernel to come back."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def heard_meanwhile(ask: Callable[[], None]) -> Iterator[None]:
    """Have `ask` called, from another thread, as soon as Ctrl-C is pressed; what Python makes of it comes after that.

    The system tells of signals by a byte on a socket, which the thread waits at. Elsewhere than in the main thread
    nothing is done: there Ctrl-C is not heard.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(target=_listen, args=(ours, ask, before), daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        theirs.close()
        thread.join()
        ours.close()


def _listen(received: socket.socket, ask: Callable[[], None], others: int) -> None:
    """Until the other end is closed; who listened before gets every byte, too."""
    while number := received.recv(1):
        if number[0] == signal.SIGINT:
            ask()
        if others >= 0:
            with suppress(OSError):
                os.write(others, number)
