"""The congestion controls, one file each: traits, settings, state, and the kernels that transport/dispatch.py calls."""
