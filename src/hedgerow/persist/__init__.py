"""Models in files: safe to load, never half written."""

from hedgerow.persist.model_file import load, save

__all__ = ["load", "save"]
