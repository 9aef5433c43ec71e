"""Callbacks of an estimator: plain functions, and scikit-learn's own where it has them."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar, cast

from hedgerow._base.state import checked_model, is_stateful
from hedgerow.errors import ParameterError
from hedgerow.monitor.interrupts import raising_at_once
from hedgerow.monitor.running import Attributes, Event, Listener, Plain, monitored

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks: plain functions remain
    from hedgerow.monitor.plain_support import CallbackSupportMixin

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
        return super().set_callbacks(*map(_as_callback, callbacks))


def _as_callback(given: Any) -> Any:
    """Return a callback of scikit-learn's kind."""
    is_theirs = with_callbacks is not None and hasattr(given, "on_fit_task_end")
    if not isinstance(given, type):
        if is_theirs or isinstance(given, PlainCallback):
            return given
        if callable(given):
            return PlainCallback(given)
    own = " or scikit-learn's ProgressBar()" if with_callbacks is not None else ""
    msg = f"{given!r} is no callback; give a function of one event{own}"
    raise ParameterError(msg)


def monitored_fit(fit: Fit) -> Fit:
    """Make a fit method a task: it can be listened to, limited in time, and interrupted."""
    signature = inspect.signature(fit)

    @functools.wraps(fit)
    def run(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        callbacks = getattr(self, "_skl_callbacks", [])
        plain = tuple(Plain(each.function) for each in callbacks if isinstance(each, PlainCallback))
        if len(plain) == len(callbacks):
            heard: AbstractContextManager[tuple[Listener, ...]] = nullcontext(plain)
        else:
            heard = _bridged(self, signature.bind(self, *args, **kwargs).arguments, plain)
        with (
            heard as listeners,
            monitored(type(self).__name__, getattr(self, "max_time", None), listeners) as monitor,
        ):
            began = time.perf_counter()
            try:
                found = fit(self, *args, **kwargs)
            finally:
                vars(self)["_fit_seconds"] = time.perf_counter() - began
            if monitor.has_recalled and is_stateful(self):
                checked_model(self, "the model")
            return found

    return cast(Fit, run if with_callbacks is None else with_callbacks(run))


@contextmanager
def _bridged(
    estimator: Any, arguments: Mapping[str, Any], plain: tuple[Listener, ...]
) -> Iterator[tuple[Listener, ...]]:
    """Tell scikit-learn's callbacks of a fit's two ends, and give a listener for what is between."""
    weight = arguments.get("sample_weight")
    data = {
        "X": arguments.get("X"),
        "y": arguments.get("y"),
        "metadata": {} if weight is None else {"sample_weight": weight},
    }
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator, **data)
    yield (*plain, _Bridge(estimator, context, data))
    context.call_on_fit_task_end(
        estimator=estimator, **data, reconstruction_attributes=lambda: _fitted(estimator)
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
        """Begin and end a subtask; what is within nested estimators is for them to tell."""
        if not is_own:
            return False
        step = self.context.subcontext(task_name="step")
        step.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        stop: bool = step.call_on_fit_task_end(
            estimator=self.estimator, **self.data, reconstruction_attributes=attributes
        )
        return stop
