"""Forests: trees grown from samples of the rows, asked together."""
