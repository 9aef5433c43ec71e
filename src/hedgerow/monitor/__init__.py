"""How a long task talks to the world: progress out; Ctrl-C, time limits and callbacks in."""

from hedgerow.monitor.callbacks import CallbackSupport, member_of, monitored_fit
from hedgerow.monitor.interrupts import FirstInterrupt, raising_at_once
from hedgerow.monitor.running import (
    Event,
    Monitor,
    Reason,
    Store,
    current,
    keeping_in,
    monitored,
    stop_if_asked,
    watch,
)

__all__ = [
    "CallbackSupport",
    "Event",
    "FirstInterrupt",
    "Monitor",
    "Reason",
    "Store",
    "current",
    "keeping_in",
    "member_of",
    "monitored",
    "monitored_fit",
    "raising_at_once",
    "stop_if_asked",
    "watch",
]
