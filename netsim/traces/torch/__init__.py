"""What PyTorch writes: profiler traces, flight recorder dumps, execution traces, and param's traces of calls."""
