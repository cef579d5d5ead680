"""A window that never changes: at most so many packets without an acknowledgement."""

import numpy as np

from netsim.kernel import part

STATE = np.dtype([("spare", "i8")])
SETTINGS = np.dtype([("spare", "i8")])


@part
def start(sender):
    pass
