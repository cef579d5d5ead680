"""Chakra execution traces, as ASTRA-sim reads them."""
