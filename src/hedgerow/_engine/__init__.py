"""Where independent tasks run: here, in threads, on a joblib backend or on a Dask cluster."""

from hedgerow._engine.choice import engine, in_threads, is_in_this_process, side_by_side
from hedgerow._engine.group import in_blocks
from hedgerow._engine.thread_count import check_n_threads

__all__ = [
    "check_n_threads",
    "engine",
    "in_blocks",
    "in_threads",
    "is_in_this_process",
    "side_by_side",
]
