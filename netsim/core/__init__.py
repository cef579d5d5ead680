"""The core: packets and nothing else. Every table is in `tables.py`, the loop over time in `engine.py`."""
