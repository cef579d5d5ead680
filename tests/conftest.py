"""How the properties are tried: the same examples everywhere, however slow the machine. And Ctrl-C works everywhere."""

import signal

from hypothesis import settings

settings.register_profile("netsim", derandomize=True, deadline=None)
settings.load_profile("netsim")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job; what tests start would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
