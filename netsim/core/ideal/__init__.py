"""How long the same chunk flows take on an idle network."""
