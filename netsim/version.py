"""The version of netsim: a file of its own, so that every floor of the house may name it."""

__version__ = "0.1.0"
