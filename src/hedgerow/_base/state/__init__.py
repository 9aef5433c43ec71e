"""An estimator's state as JSON and named arrays: declared once, used by files and checkpoints.

An estimator class declares with :func:`stateful` what its parameters and fitted attributes may be;
a frozen dataclass that is part of a state is declared with :func:`record`; :class:`StoredAs` tells
by what name, and how older states are read. :func:`dump_state` then flattens any such object, nested
ones included, into JSON and arrays, and :func:`load_state` builds an equal one from them. Both hold what they see against the declarations, so that what is saved can
be loaded and what is loaded can be used. A state names classes, it never brings code.
"""

from hedgerow._base.state.declare import StoredAs, checked_model, is_stateful, record, stateful
from hedgerow._base.state.errors import (
    MissingPackageError,
    NewerStateError,
    StateError,
    UnknownClassError,
)
from hedgerow._base.state.values import Arrays, Json, dump_state, is_unicode, load_state

__all__ = [
    "Arrays",
    "Json",
    "MissingPackageError",
    "NewerStateError",
    "StateError",
    "StoredAs",
    "UnknownClassError",
    "checked_model",
    "dump_state",
    "is_stateful",
    "is_unicode",
    "load_state",
    "record",
    "stateful",
]
