"""LinearSVC(calibrate=...), calibrate and CalibratedModel: honest probabilities that predict follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, ShuffleSplit, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import scale
from sklearn.svm import SVC

import hedgerow
from hedgerow import CalibratedModel, LinearSVC, calibrate
from hedgerow.calibrators.maps import METHODS
from hedgerow.errors import DataError, NotCertifiedWarning, ParameterError
from hedgerow.search.out_of_fold import cross_scores

BOTH = pytest.mark.parametrize("method", METHODS)


def halves(load, seed=0):
    X, y = load(return_X_y=True)
    return train_test_split(scale(X), y, test_size=0.5, random_state=seed, stratify=y)


def overlapping(n=300, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(n_classes, size=n)
    return random.normal(size=(n, 4)) + 0.8 * np.eye(4)[y], y


@BOTH
@pytest.mark.parametrize(("load", "n_splits"), [(load_breast_cancer, 6), (load_digits, 1)])
def test_calibrated_probabilities_have_less_log_loss_than_squashed_scores(method, load, n_splits):
    losses = []
    for seed in range(n_splits):
        X, X_new, y, y_new = halves(load, seed)
        model = LinearSVC(calibrate=method, random_state=0).fit(X, y)
        squashed = expit(model.decision_function(X_new))
        squashed = squashed if squashed.ndim == 1 else squashed / squashed.sum(1)[:, None]
        losses.append([log_loss(y_new, p) for p in (model.predict_proba(X_new), squashed)])
    calibrated, uncalibrated = np.mean(losses, axis=0)
    assert calibrated < 0.95 * uncalibrated


@BOTH
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predict_is_the_most_probable_class_also_for_ties(method, n_classes):
    X, y = overlapping(n_classes=n_classes)
    model = LinearSVC(calibrate=method, random_state=0).fit(X, y)
    wide = np.vstack([X, 1e3 * X, -1e3 * X, np.zeros((1, 4))])
    p = model.predict_proba(wide)
    assert model.predict(wide).tolist() == model.classes_[p.argmax(axis=1)].tolist()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    assert model.predict_log_proba(wide).tolist() == np.log(p).tolist()


def test_of_equally_probable_classes_the_first_is_predicted():
    X, y = np.zeros((20, 1)), np.array(["b", "a"] * 10)
    model = LinearSVC(calibrate="sigmoid", random_state=0).fit(X, y)
    assert model.predict_proba([[7.0]]).tolist() == [[0.5, 0.5]]
    assert model.predict([[7.0]]).tolist() == ["a"]


def test_without_calibrate_there_are_no_probabilities():
    X, y = overlapping()
    model = LinearSVC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_log_proba")
    assert not hasattr(LinearSVC(), "predict_proba")
    assert hasattr(LinearSVC(calibrate="sigmoid"), "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba") as error:
        _ = model.predict_proba
    assert "calibrate='sigmoid'" in str(error.value.__cause__)


def test_a_fit_without_calibrate_forgets_the_probabilities_of_an_earlier_one():
    X, y = overlapping()
    model = LinearSVC(calibrate="sigmoid").fit(X, y).set_params(calibrate=None).fit(X, y)
    assert not hasattr(model, "probability_maps_")
    assert model.predict(X).tolist() == LinearSVC().fit(X, y).predict(X).tolist()


def test_calibrating_leaves_the_plane_as_it_is():
    X, y = overlapping()
    plain, calibrated = LinearSVC().fit(X, y), LinearSVC(calibrate="isotonic").fit(X, y)
    assert plain.coef_.tobytes() == calibrated.coef_.tobytes()
    assert plain.certificate_ == calibrated.certificate_


@BOTH
@pytest.mark.parametrize("solver", ["newton", "dual_coordinate_descent"])
def test_threads_and_engines_do_not_change_a_bit(method, solver):
    X, y = overlapping(n_classes=3)

    def shares(n_jobs):
        model = LinearSVC(calibrate=method, solver=solver, C=0.01, random_state=3, n_jobs=n_jobs)
        return model.fit(X, y).predict_proba(X).tobytes()

    assert shares(1) == shares(2) == shares(4)
    with hedgerow.engine(None):
        assert shares(2) == shares(1)


def test_the_kind_of_container_does_not_matter():
    X, y = overlapping()
    model = LinearSVC(calibrate="sigmoid", random_state=0)
    dense, sparse = model.fit(X, y).predict_proba(X), model.fit(sp.csr_array(X), y).predict_proba(X)
    np.testing.assert_allclose(dense, sparse, rtol=1e-9)  # the solver's sums, in another order


def test_rows_without_weight_might_as_well_be_absent():
    X, y = overlapping(n_classes=3)
    # The positive rows keep their order, so the same permutation of them deals the folds.
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    model = LinearSVC(calibrate="sigmoid", random_state=0)
    with_zeros = model.fit(X, y, weight).predict_proba(X)
    np.testing.assert_allclose(with_zeros, model.fit(X[kept], y[kept]).predict_proba(X), rtol=1e-9)


def test_a_class_without_weight_is_kept_and_never_likely():
    X, y = overlapping(n_classes=3)
    model = LinearSVC(calibrate="sigmoid", random_state=0).fit(X, y, (y != 2).astype(float))
    p = model.predict_proba(X)
    assert p.shape == (300, 3)
    assert p[:, 2].max() < 0.02


def test_class_weights_move_the_plane_but_not_what_is_likely():
    X, y = overlapping(2000)
    rare = (y == 0) | (np.arange(2000) % 10 == 0)
    X, y = X[rare], y[rare]
    p = LinearSVC(calibrate="sigmoid", class_weight="balanced", random_state=0).fit(X, y)
    # The mean of the probabilities is the share of the class, but for Platt's targets.
    assert p.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.01)


@pytest.mark.parametrize("n_smallest", [2, 3])
def test_a_small_class_means_fewer_folds(n_smallest):
    X, y = overlapping()
    y[:n_smallest] = 2
    events = []
    with hedgerow.watch(events.append):
        LinearSVC(calibrate="sigmoid", random_state=0).fit(X, y)
    folds = [event for event in events if event.task == "folds"]
    assert [event.done for event in folds] == list(range(1, n_smallest + 1))
    assert {event.total for event in folds} == {n_smallest}
    assert folds[0].path == ("LinearSVC", "folds")


def test_a_class_with_a_single_row_is_refused():
    X, y = overlapping()
    labels = np.where(np.arange(len(y)) == 7, "odd", "even")
    with pytest.raises(DataError, match="class 'odd' has a single row"):
        LinearSVC(calibrate="sigmoid").fit(X, labels)


def test_an_unknown_method_is_refused():
    with pytest.raises(ParameterError, match="calibrate='platt'"):
        LinearSVC(calibrate="platt").fit(*overlapping())


@BOTH
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_saved_machine_gives_the_same_probabilities(method, n_classes, tmp_path):
    X, y = overlapping(n_classes=n_classes)
    for model in (LinearSVC(calibrate=method), CalibratedModel(LinearSVC(), method)):
        model.fit(X, y)
        hedgerow.save(model, tmp_path / "m.hedge")
        loaded = hedgerow.load(tmp_path / "m.hedge")
        assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
        assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_folds_that_do_not_get_to_the_end_are_told():
    X, y = overlapping()
    found = {}

    def stop_in_folds(event):
        found[event.path[:2]] = True
        return "folds" in event.path and event.done >= 1

    model = LinearSVC(calibrate="sigmoid", random_state=0).set_callbacks(stop_in_folds).fit(X, y)
    assert model.status_ == "stopped"
    assert ("LinearSVC", "folds") in found
    assert model.certificate_.is_certified
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_fits_of_folds_that_end_above_tol_are_told_where_the_machine_itself_is_certified(
    monkeypatch,
):
    from hedgerow.calibrators import fold_scores as _calibrated_scores

    def late(*parts, **more):
        return replace(cross_scores(*parts, **more), statuses=("optimal", "max_iter"))

    monkeypatch.setattr(_calibrated_scores, "cross_scores", late)
    with pytest.warns(NotCertifiedWarning, match="1 of the 2 fits .* 'max_iter'"):
        LinearSVC(calibrate="sigmoid").fit(*overlapping())


def test_fits_of_folds_that_end_early_are_warned_of_once():
    X, y = overlapping()
    limited = {"solver": "dual_coordinate_descent", "loss": "hinge", "max_iter": 3}
    with pytest.warns(NotCertifiedWarning) as told:
        LinearSVC(calibrate="sigmoid", random_state=0, **limited).fit(X, y)
    assert len(told) == 1


class CrashError(Exception):
    """The power is gone."""


def test_after_a_crash_folds_that_are_done_are_not_fitted_again(tmp_path):
    X, y = overlapping()
    model = LinearSVC(calibrate="sigmoid", random_state=0, n_jobs=1)

    def crash(event):
        if event.task == "folds" and event.done == 2:
            raise CrashError

    with (
        pytest.raises(CrashError),
        hedgerow.watch(crash),
        hedgerow.checkpoint(tmp_path / "c", every=0),
    ):
        clone(model).fit(X, y)
    events = []
    with hedgerow.watch(events.append), hedgerow.checkpoint(tmp_path / "c", every=0):
        again = clone(model).fit(X, y)
    fitted = {event.path[2] for event in events if len(event.path) > 2}
    assert fitted == {"3/5", "4/5", "5/5"}
    assert again.predict_proba(X).tobytes() == model.fit(X, y).predict_proba(X).tobytes()


class Memory(ClassifierMixin, BaseEstimator):
    """Knows by heart the rows it was fitted on, and takes offence if it is asked about one."""

    def fit(self, X, y):
        self.classes_, self.rows_, self.n_features_in_ = np.unique(y), set(X[:, 0]), X.shape[1]
        return self

    def decision_function(self, X):
        assert not self.rows_ & set(X[:, 0])
        return np.asarray(X)[:, 0] / 300

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.mark.parametrize("cv", [2, 5, ShuffleSplit(3, random_state=0)])
def test_no_score_is_of_a_row_its_model_was_fitted_on(cv):
    X, y = np.arange(300.0)[:, None], np.arange(300) % 2
    model = calibrate(Memory(), X, y, cv=cv, random_state=0)
    assert model.learner_.rows_ == set(range(300))
    with pytest.raises(AssertionError):
        model.predict(X)


def test_the_folds_of_linear_svc_are_fitted_without_the_rows_they_score(monkeypatch):
    from hedgerow.calibrators import fold_scores as _calibrated_scores

    asked = []
    real = _calibrated_scores.cross_scores

    def spy(machine, data, folds, **more):
        asked.extend(folds)
        return real(machine, data, folds, **more)

    monkeypatch.setattr(_calibrated_scores, "cross_scores", spy)
    X, y = overlapping()
    LinearSVC(calibrate="sigmoid", random_state=0).fit(X, y)
    assert all(not set(fitted) & set(left_out) for fitted, left_out in asked)
    assert sorted(np.concatenate([left_out for _, left_out in asked])) == list(range(300))


@BOTH
@pytest.mark.parametrize(
    "learner", [LinearSVC(), RidgeClassifier(), GaussianNB(), SVC(random_state=0)]
)
def test_any_classifier_with_scores_can_be_calibrated(method, learner):
    X, X_new, y, y_new = halves(load_iris)
    fitted = calibrate(clone(learner).fit(X[:50], y[:50]), X[50:], y[50:], method=method)
    crossed = calibrate(learner, X, y, method=method, cv=3, random_state=0)
    for model in (fitted, crossed):
        p = model.predict_proba(X_new)
        assert model.predict(X_new).tolist() == p.argmax(axis=1).tolist()
        assert log_loss(y_new, p) < 0.8 < np.log(3)
        assert np.log(p).tolist() == model.predict_log_proba(X_new).tolist()


def test_a_fitted_model_is_taken_as_it_is_and_may_know_more_classes():
    X, y = load_iris(return_X_y=True)
    learner = LinearSVC().fit(X, y)
    model = calibrate(learner, X[:100], y[:100])
    assert model.learner_ is learner
    assert model.predict_proba(X).shape == (150, 3)


def test_crossing_is_what_linear_svc_does_by_itself():
    X, y = overlapping(n_classes=3)
    inside = LinearSVC(calibrate="sigmoid", random_state=0).fit(X, y)
    around = calibrate(LinearSVC(random_state=0), X, y, cv=5, random_state=0)
    assert inside.predict_proba(X).tobytes() == around.predict_proba(X).tobytes()


def test_the_seed_reaches_a_learner_without_one():
    X, y = overlapping()
    learner = LinearSVC(calibrate="sigmoid", solver="dual_coordinate_descent")
    first, second, other = (
        calibrate(learner, X, y, cv=3, random_state=seed).learner_.predict_proba(X).tobytes()
        for seed in (1, 1, 2)
    )
    assert first == second != other


def test_groups_are_kept_together_by_a_list_of_splits():
    X, y = overlapping()
    splits = list(GroupKFold(4).split(X, y, groups=np.arange(300) // 10))
    assert calibrate(LinearSVC(), X, y, cv=splits).predict_proba(X).shape == (300, 2)


def test_weights_reach_learner_and_maps():
    X, y = overlapping()
    heavy = np.where(y == 1, 20.0, 1.0)
    plain, weighted = (
        calibrate(LinearSVC(), X, y, cv=5, random_state=0, sample_weight=weight)
        for weight in (None, heavy)
    )
    assert weighted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.2
    assert weighted.learner_.intercept_[0] > plain.learner_.intercept_[0]


def test_what_cannot_be_calibrated_is_refused():
    X, y = overlapping()
    with pytest.raises(hedgerow.HedgerowError, match="'c', which is not a class of the learner"):
        calibrate(LinearSVC().fit(X, np.array(["a", "b"])[y]), X, ["c"] * 300)
    with pytest.raises(ValueError, match="needs a fitted learner"):
        calibrate(LinearSVC(), X, y)
    with pytest.raises(ParameterError, match="Memory does not support it"):
        calibrate(Memory(), X, y, cv=2, sample_weight=np.ones(300))
    for cv in (1, [], [1, 2], "5"):
        with pytest.raises(ParameterError, match=r"cv=.* number of folds"):
            calibrate(LinearSVC(), X, y, cv=cv)
    pairs = SVC(decision_function_shape="ovo").fit(*overlapping(n_classes=4))
    with pytest.raises(ParameterError, match="one score per class"):
        calibrate(pairs, *overlapping(n_classes=4))
    with pytest.raises(DataError, match="has no training row of class 0"):
        calibrate(LinearSVC(), X, y, cv=[(np.flatnonzero(y == 1), np.flatnonzero(y == 0))])
