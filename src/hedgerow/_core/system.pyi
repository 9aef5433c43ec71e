"""The machine: random numbers, stopping, instruction sets, cores."""

import numpy
from numpy.typing import NDArray


class Stopped(Exception):
    pass

class StopToken:
    """Asks computations under it to stop: when told to, or after a while."""

    def __init__(self, parent: StopToken | None, runs_signal_handlers: bool) -> None: ...

    def stop(self) -> None:
        """Ask now."""

    def stop_after(self, seconds: float) -> None:
        """Ask when so many seconds have passed."""

    @property
    def is_stopped(self) -> bool: ...

def exchange_stop_token(token: StopToken | None) -> StopToken | None:
    """
    Put a token, or none, over this thread; it must live until it is taken away. Returns the one that was.
    """

def random_uint64(seed: int, stream: int, n: int) -> NDArray[numpy.uint64]:
    """
    Words of the stream, the same as numpy.random.Philox(key=[seed, stream]).
    """

def random_uniform(seed: int, stream: int, n: int) -> NDArray[numpy.float64]:
    """Uniform on [0, 1)."""

def random_permutation(seed: int, stream: int, n: int) -> NDArray[numpy.int64]:
    """A permutation of 0 ... n - 1."""

def random_below(seed: int, stream: int, bound: int, n: int) -> NDArray[numpy.int64]:
    """Uniform on 0 ... bound - 1."""

def isa() -> str:
    """The instruction set in use."""

def supported_isas() -> list[str]:
    """The instruction sets HEDGEROW_ISA may name on this machine."""

def available_cores() -> int:
    """
    The cores this process may use, by its affinity and its control groups.
    """
