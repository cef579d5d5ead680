"""Studies: many runs that belong together: designs compared over seeds, and sweeps over any setting."""
