"""What there is to say of the models of this package; see :mod:`hedgerow.describe`."""

from __future__ import annotations

from typing import Any

from hedgerow._page.words import count
from hedgerow.auto.encoder import TableEncoder
from hedgerow.auto.table_classifier import TableClassifier
from hedgerow.describe import describes
from hedgerow.describe.estimators import around_learner, feature_names

__all__: list[str] = []


@describes(TableEncoder)
def _encoder(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "is_text_"):
        return {}
    n_text = int(model.is_text_.sum())
    n_numbers = len(model.is_text_) - n_text
    learned = [
        f"the means and scales of {count(n_numbers, 'column')} of numbers" if n_numbers else "",
        f"the values of {count(n_text, 'column')} of text" if n_text else "",
    ]
    sentence = f"Learned {' and '.join(part for part in learned if part)}."
    return {"inputs": _inputs(model), "training": {"sentences": [sentence]}}


@describes(TableClassifier)
def _table_classifier(model: Any, top: int) -> dict[str, Any]:
    encoder = getattr(model, "encoder_", None)
    if encoder is None:
        return around_learner(model, top)
    found = around_learner(model, top, encoder.get_feature_names_out())
    return found | {"inputs": _inputs(encoder)}


def _inputs(encoder: TableEncoder) -> dict[str, Any]:
    """Return the columns that an encoder takes, and what it makes of them."""
    labels = feature_names(encoder, encoder.n_features_in_)
    categories = iter(encoder.categories_)
    values = [next(categories).tolist() if is_text else None for is_text in encoder.is_text_]
    columns = [{"name": n, "values": v} for n, v in zip(labels, values, strict=True)]
    has_names = hasattr(encoder, "feature_names_in_") or bool(encoder.is_text_.any())
    return {
        "n_columns": encoder.n_features_in_,
        "columns": columns if has_names else None,
        "is_encoded": True,
        "scaling": encoder.scaling_,
        "n_encoded": len(encoder.fill_) + sum(map(len, encoder.categories_)),
    }
