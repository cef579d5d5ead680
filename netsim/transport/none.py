"""No control: a sender sends at line rate until its last packet has left."""

import numpy as np

from netsim.kernel import part
from netsim.transport.fixed_point import WIDEST

STATE = np.dtype([("spare", "i8")])
SETTINGS = np.dtype([("spare", "i8")])


@part
def start(sender):
    sender.cwnd = WIDEST
