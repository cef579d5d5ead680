"""What `on_full` may answer; 0 drops the packet."""

TRIM, TRIM_LAST = 1, 2  # the packet that finds no room is cut to its header, or the last in the queue in its favour
