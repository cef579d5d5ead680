"""Collectives, messages, connections, queue pairs."""
