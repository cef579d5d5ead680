"""A switch: its two ways to run, trimming, per-packet routing."""
