"""Hedgerow against its peers, on the same data in one run: ``python -m benchmarks SUITE``."""
