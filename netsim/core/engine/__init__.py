"""The loop over time and what it asks of memory."""
