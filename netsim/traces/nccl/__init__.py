"""What NCCL itself writes: debug logs, Inspector dumps, traces of its profiler."""
