"""Models around a classifier: calibrated probabilities, and thresholds of their own."""

from __future__ import annotations

from typing import Any

from hedgerow._page.words import count, short
from hedgerow.calibration.model import CalibratedModel
from hedgerow.calibration.thresholds import ThresholdModel
from hedgerow.calibration.wrapped import WrappedClassifier
from hedgerow.calibrators.maps import ScoreCalibrator
from hedgerow.describe.estimators import around_learner
from hedgerow.describe.registry import describes

__all__: list[str] = []


@describes(WrappedClassifier)
def _wrapped(model: Any, top: int) -> dict[str, Any]:
    return around_learner(model, top)


@describes(CalibratedModel)
def _calibrated(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "probability_maps_"):
        return {}
    n_maps = len(model.probability_maps_)
    maps = f"{n_maps} {model.method} maps" if n_maps > 1 else f"the {model.method} map"
    sentence = (
        f"Scores are turned into probabilities by {maps}, fitted to scores of {_rows_words(model)}."
    )
    return {"training": {"sentences": [sentence]}}


@describes(ThresholdModel)
def _threshold(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "value_"):
        return {}
    metric = "mean cost" if model.costs is not None else _metric_name(model.metric)
    rule = (
        "Predicts the class of least expected cost"
        if model.threshold_ is None
        else f"Predicts {model.classes_[1].item()!r} where the score is above {short(model.threshold_)}"
    )
    evidence = {
        "method": "given rows" if model.cv is None else "cross-validation",
        "metric": metric,
        "estimate": model.value_,
        "standard_error": None,
        "low": None,
        "high": None,
        "confidence_level": None,
        "n_rows": None,
        "sentence": (
            f"On {_rows_words(model)}, the {metric} is {model.value_:.4g}; as the threshold was chosen "
            "by it, it is slightly optimistic."
        ),
    }
    return {"training": {"sentences": [f"{rule}."]}, "quality": [evidence]}


def _metric_name(metric: Any) -> str:
    if isinstance(metric, tuple):
        return f"precision where the recall is at least {metric[1]:g}"
    name = "f1" if metric is None else metric
    return name if isinstance(name, str) else str(getattr(name, "__name__", "metric"))


def _rows_words(model: Any) -> str:
    if model.cv is None:
        return "the rows given"
    folds = count(model.cv, "fold") if isinstance(model.cv, int) else "folds"
    return f"rows that the learner had not seen ({folds})"


@describes(ScoreCalibrator)
def _calibrator(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "probability_maps_"):
        return {}
    maps = count(len(model.probability_maps_), f"{model.method} map")
    sentence = (
        f"Fitted {maps} from scores to the probabilities of {count(len(model.classes_), 'class')}."
    )
    return {"training": {"sentences": [sentence]}}
