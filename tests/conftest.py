"""How the properties are tried: the same examples everywhere, however slow the machine."""

from hypothesis import settings

settings.register_profile("netsim", derandomize=True, deadline=None)
settings.load_profile("netsim")
