"""A link and the queue before it: sending, marks, pauses, priorities, losses."""
