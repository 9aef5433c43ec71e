"""
The compiled core of Hedgerow: hot loops over arrays that Python has checked.
"""

from . import (
    data as data,
    kernel as kernel,
    loss as loss,
    resample as resample,
    solver as solver,
    system as system,
    tree as tree
)
