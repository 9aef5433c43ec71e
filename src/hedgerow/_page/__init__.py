"""Reports for people: sections of wrapped sentences and drawings, on a stream or as text."""
