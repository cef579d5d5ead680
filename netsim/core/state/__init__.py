"""The tables of a simulation: their rows, how they are built, how they grow."""
