"""What can be seen of a run: traces of packets, samples of queues, counters."""
