"""The core: packets and nothing else. Tables are in `state/`, the loop over time in `engine/`.

Folders import one way, each from those before it: state, observe, link, switch, ideal, flows, recovery, host, engine.
"""
