"""X, y and weights at the door: rows, targets, tables, files, scaling."""
