"""Advice: each hint appears where it should, and only there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hedgerow.auto import auto_fit
from hedgerow.auto.advice import Evidence, advise
from hedgerow.auto.choose import CandidateScore
from hedgerow.auto.judge import HeldOutReport, Recall
from hedgerow.auto.rivals import Rival, Rivals
from hedgerow.describe.profile import Profile, profile_of
from hedgerow.problems.certificates import Certificate
from hedgerow.resampling import Interval


def scores(*accuracies: float) -> tuple[CandidateScore, ...]:
    return tuple(CandidateScore(4.0**i, a, 0.01) for i, a in enumerate(accuracies))


def interval(estimate: float, half: float = 0.02, n: int = 500) -> Interval:
    return Interval(estimate, estimate - half, estimate + half, 0.95, n, "bootstrap")


GOOD = Evidence(
    profile=Profile(2000, 4, 0, 0, None, {"a": 1000, "b": 1000}, (), (), ()),
    scores=scores(0.9, 0.95, 0.93),
    train_accuracy=0.96,
    test=HeldOutReport(interval(0.95), "a", 0.5, (Recall("a", 238, 250), Recall("b", 237, 250))),
    certificate=Certificate(1.0, 1.0, 0.0, "relative_gap", 1e-4, "optimal"),
)


def names(evidence: Evidence) -> list[str]:
    return [hint.name for hint in advise(evidence)]


def test_a_good_model_gets_no_advice() -> None:
    assert names(GOOD) == []


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("not_certified", {"certificate": replace(GOOD.certificate, dual=0.5)}),
        ("no_better_than_baseline", {"test": replace(GOOD.test, baseline=0.94)}),
        ("row_numbers", {"profile": replace(GOOD.profile, row_numbers=("id",))}),
        ("identifiers", {"profile": replace(GOOD.profile, identifiers=("name", "plate"))}),
        ("mostly_missing", {"profile": replace(GOOD.profile, mostly_missing=("cabin",))}),
        ("overfit", {"train_accuracy": 1.0, "test": replace(GOOD.test, accuracy=interval(0.9))}),
        ("too_simple", {"train_accuracy": 0.8, "test": replace(GOOD.test, accuracy=interval(0.8))}),
        (
            "unbalanced",
            {
                "profile": replace(GOOD.profile, classes={"a": 1900, "b": 100}),
                "test": replace(GOOD.test, recalls=(Recall("a", 475, 475), Recall("b", 3, 25))),
            },
        ),
        ("rare_classes", {"profile": replace(GOOD.profile, classes={"a": 99, "b": 9, "c": 2})}),
        ("c_at_edge", {"scores": scores(0.95, 0.92, 0.91)}),
        ("c_at_edge", {"scores": scores(0.91, 0.92, 0.95)}),
        ("few_test_rows", {"test": replace(GOOD.test, accuracy=interval(0.9, half=0.08, n=40))}),
    ],
)
def test_each_sign_brings_its_hint_alone(name: str, change: dict) -> None:
    (hint,) = advise(replace(GOOD, **change))
    assert hint.name == name
    assert hint.sentence.endswith((".", ")."))
    assert hint.sentence.count(". ") == 0  # one sentence


FOREST = Rival("a random forest", "RandomForestClassifier(random_state=0)", 0.97, 0.02, 0.001)
KERNEL = Rival("an SVC with an RBF kernel", "SVC()", 0.96, 0.01, 0.005)


def test_a_learner_that_was_measured_to_be_better_is_named_with_its_figure_and_its_python() -> None:
    (hint,) = advise(replace(GOOD, rivals=Rivals(900, 0.95, (FOREST, KERNEL))))
    assert (hint.name, hint.learner) == ("too_simple", "RandomForestClassifier(random_state=0)")
    assert hint.sentence == (
        "A linear classifier is too simple here: it gets 95.0 % of 900 training rows right when it "
        "has not seen them, a random forest 97.0 %, so try "
        "TableClassifier(RandomForestClassifier(random_state=0)) in Python."
    )
    both = (FOREST, replace(KERNEL, standard_error=0.001))
    (hint,) = advise(replace(GOOD, rivals=Rivals(900, 0.95, both)))
    assert "a random forest 97.0 % and an SVC with an RBF kernel 96.0 %" in hint.sentence


def test_learners_that_are_no_better_are_named_where_even_the_training_rows_are_hard() -> None:
    poor = replace(GOOD, train_accuracy=0.8, test=replace(GOOD.test, accuracy=interval(0.8)))
    worse = (replace(FOREST, gain=0.002), KERNEL)
    (hint,) = advise(replace(poor, rivals=Rivals(900, 0.79, worse)))
    assert "neither a random forest (97.0 %) nor an SVC with an RBF kernel" in hint.sentence
    assert hint.learner == ""
    assert advise(replace(GOOD, rivals=Rivals(900, 0.95, worse))) == ()


def test_an_interrupted_search_is_not_told_to_take_more_time() -> None:
    seen = replace(GOOD, unfinished="after 2 of 5 folds", interrupted="search")
    (hint,) = advise(seen)
    assert "let it come to its end" in hint.sentence
    assert "more time" not in hint.sentence


def test_scores_within_a_standard_error_say_nothing_about_the_grid() -> None:
    assert names(replace(GOOD, scores=scores(0.905, 0.9, 0.9))) == []
    assert names(replace(GOOD, scores=scores(0.9, 0.9, 0.9))) == []
    assert names(replace(GOOD, scores=scores(0.9))) == []


def test_a_search_over_noise_ends_with_the_advice_to_find_better_columns() -> None:
    generator = np.random.default_rng(0)
    result = auto_fit(generator.normal(size=(200, 2)), generator.permutation(200) % 2, Cs=[1.0])
    assert "no_better_than_baseline" in {hint.name for hint in result.advice}


def test_a_profile_counts_what_is_there() -> None:
    n = 20
    table = {
        "id": np.arange(n, dtype=float),
        "gappy": np.where(np.arange(n) < 12, np.nan, 1.0),
        "name": np.array([f"n{i}" for i in range(n)], dtype=object),
        "kind": np.array(["a", None] * (n // 2), dtype=object),
    }
    profile = profile_of(table, np.arange(n) % 2)
    assert (profile.n_rows, profile.n_columns, profile.n_text_columns) == (n, 4, 2)
    assert profile.n_missing == 12 + n // 2
    assert profile.row_numbers == ("id",)
    assert profile.mostly_missing == ("gappy",)
    assert profile.identifiers == ("name",)
    assert profile.classes == {0: 10, 1: 10}
    assert profile.density is None
