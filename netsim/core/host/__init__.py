"""A host: its NIC, what it receives, jitter, telemetry."""
