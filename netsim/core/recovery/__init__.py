"""What is retransmitted: go-back-N, selective repeat, timers."""
