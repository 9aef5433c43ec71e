"""Models and checkpoints in files: safe to load, never half written."""

from hedgerow.persist.checkpoints import checkpoint
from hedgerow.persist.model_file import load, save
from hedgerow.persist.state_file import read_state, write_state

__all__ = ["checkpoint", "load", "read_state", "save", "write_state"]
