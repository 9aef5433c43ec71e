"""Callbacks of an estimator: plain functions, and scikit-learn's own where it has them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar, cast

from hedgerow.monitor.interrupts import raising_at_once
from hedgerow.monitor.running import Attributes, Event, Listener, Plain, monitored

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks: plain functions remain
    CallbackSupportMixin = object
    with_callbacks = None

__all__ = ["CallbackSupport", "member_of", "monitored_fit"]

Fit = TypeVar("Fit", bound=Callable[..., Any])


class PlainCallback:
    """A plain function kept among scikit-learn's callbacks, so that a clone takes it along.

    The monitor calls the function; of scikit-learn's own hooks it needs none.
    """

    def __init__(self, function: Callable[[Event], Any]) -> None:
        self.function = function

    def setup(self, estimator: Any, context: Any) -> None:
        """Need nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Leave nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Wait for the monitor."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:  # noqa: ARG002
        """Wait for the monitor."""
        return False


class CallbackSupport(CallbackSupportMixin):
    """An estimator that can be listened to while it fits."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set who hears of every step of a fit.

        Parameters
        ----------
        *callbacks : callable or scikit-learn callback
            A callable is given an :class:`hedgerow.Event` at every step, and stops the fit by
            returning True. With scikit-learn 1.9 or newer also its callbacks, such as
            ``sklearn.callback.ProgressBar()``. None at all removes those that were set.

        Returns
        -------
        estimator
            Itself.
        """
        wrapped = [
            PlainCallback(each) if callable(each) and not _is_sklearn_callback(each) else each
            for each in callbacks
        ]
        if with_callbacks is not None:
            return super().set_callbacks(*wrapped)
        strangers = [each for each in wrapped if not isinstance(each, PlainCallback)]
        if strangers:
            msg = f"{strangers[0]!r} is no callback; give a function of one event"
            raise TypeError(msg)
        self._skl_callbacks = wrapped
        return self


def _is_sklearn_callback(callback: Any) -> bool:
    return hasattr(callback, "on_fit_task_end") and not isinstance(callback, type)


def monitored_fit(fit: Fit) -> Fit:
    """Make a fit method a task: it can be listened to, limited in time, and interrupted."""

    @functools.wraps(fit)
    def run(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        with (
            _listeners(self, *args, **kwargs) as listeners,
            monitored(type(self).__name__, getattr(self, "max_time", None), listeners),
        ):
            return fit(self, *args, **kwargs)

    return cast(Fit, run if with_callbacks is None else with_callbacks(run))


@contextmanager
def _listeners(
    estimator: Any, X: Any, y: Any = None, *_: Any, sample_weight: Any = None, **__: Any
) -> Iterator[tuple[Listener, ...]]:
    """Give the listeners that the estimator's callbacks ask for, told of the fit's two ends."""
    callbacks = getattr(estimator, "_skl_callbacks", [])
    plain = tuple(Plain(each.function) for each in callbacks if isinstance(each, PlainCallback))
    if len(plain) == len(callbacks):
        yield plain
        return
    metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
    context = estimator._init_callback_context(max_subtasks=None)
    bridge = _Bridge(estimator, context, {"X": X, "y": y, "metadata": metadata})
    context.call_on_fit_task_begin(estimator=estimator, **bridge.data)
    yield (*plain, bridge)
    context.call_on_fit_task_end(
        estimator=estimator, **bridge.data, reconstruction_attributes=lambda: _fitted(estimator)
    )


@contextmanager
def member_of(estimator: Any, member: Any) -> Iterator[None]:
    """Let the callbacks of an estimator hear of the fit of one of its members.

    Ctrl-C is raised at once while a member that is not of this package fits: it would not ask.
    """
    asks = isinstance(member, CallbackSupport)
    with nullcontext() if asks else raising_at_once(), _heard_by(estimator, member):
        yield


@contextmanager
def _heard_by(estimator: Any, member: Any) -> Iterator[None]:
    """Hand scikit-learn's callbacks on to a member."""
    context = getattr(estimator, "_callback_fit_ctx", None)
    if context is None:
        yield
        return
    leaf = context.subcontext(task_name=f"fit {type(member).__name__}")
    leaf.call_on_fit_task_begin(estimator=estimator)
    with leaf.propagate_callback_context(member):
        yield
    leaf.call_on_fit_task_end(estimator=estimator)


def _fitted(estimator: Any) -> dict[str, Any]:
    """Return the fitted attributes of an estimator."""
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


class _Bridge:
    """Tells scikit-learn's callbacks of every step, as a subtask of the fit."""

    def __init__(self, estimator: Any, context: Any, data: dict[str, Any]) -> None:
        self.estimator = estimator
        self.context = context
        self.data = data

    def __call__(
        self,
        event: Event,  # noqa: ARG002
        *,
        is_own: bool,
        attributes: Attributes | None,
    ) -> bool:
        """Begin and end a subtask; what is within nested estimators is theirs to tell."""
        if not is_own:
            return False
        step = self.context.subcontext(task_name="step")
        step.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        stop: bool = step.call_on_fit_task_end(
            estimator=self.estimator, **self.data, reconstruction_attributes=attributes
        )
        return stop
