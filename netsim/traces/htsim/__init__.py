"""htsim's connection matrices."""
