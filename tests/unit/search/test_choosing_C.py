"""C is chosen by folds that never see what they are judged by, along a path that equals cold fits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from hedgerow import (
    DataError,
    EdgeOfGridWarning,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    ParameterError,
    UnavailableError,
    load,
    regularization_path,
    save,
)
from hedgerow.data.scaling import Scaling
from hedgerow.search.trials import Trials

CANCER = load_breast_cancer(return_X_y=True)
X, Y = StandardScaler().fit_transform(CANCER[0]), CANCER[1]
CS = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
quiet = pytest.mark.filterwarnings("ignore::hedgerow.EdgeOfGridWarning")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", ["free", "penalized"])
def test_scores_are_those_of_a_grid_search(loss, intercept):
    cv = KFold(4, shuffle=True, random_state=0)
    model = LinearSVCCV(Cs=CS, cv=cv, loss=loss, intercept=intercept, path_tol=1e-9).fit(X, Y)
    machine = LinearSVC(loss=loss, intercept=intercept, tol=1e-9)
    search = GridSearchCV(machine, {"C": CS}, cv=cv).fit(X, Y)
    folds = [search.cv_results_[f"split{k}_test_score"] for k in range(4)]
    # A row whose score is 0 but for the tolerance may fall on either side.
    assert np.abs(model.scores_ - np.array(folds).T).max() <= 1.5 / 142
    assert model.Cs_.tolist() == CS
    assert model.C_ in CS
    assert model.gaps_.max() <= 1e-9


def test_the_machine_that_is_kept_is_the_one_with_the_chosen_C():
    model = LinearSVCCV(Cs=CS, random_state=0).fit(X, Y)
    machine = LinearSVC(C=model.C_, random_state=0).fit(X, Y)
    assert model.coef_.tobytes() == machine.coef_.tobytes()
    assert model.alpha_.tobytes() == machine.alpha_.tobytes()
    assert model.certificate_.is_certified
    assert np.array_equal(model.predict(X), machine.predict(X))


@quiet
def test_threads_do_not_change_a_bit():
    model = LinearSVCCV(Cs=5, n_jobs=2, random_state=0).fit(*load_iris(return_X_y=True))
    alone = LinearSVCCV(Cs=5, n_jobs=1, random_state=0).fit(*load_iris(return_X_y=True))
    assert model.scores_.tobytes() == alone.scores_.tobytes()
    assert model.coef_.tobytes() == alone.coef_.tobytes()


@quiet
@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "neg_log_loss", None])
def test_any_scorer_that_needs_scores_or_labels_is_taken(scoring):
    model = LinearSVCCV(Cs=[0.01, 0.1], scoring=scoring)
    if scoring == "neg_log_loss":
        with pytest.raises(AttributeError, match="predict_proba"):
            model.fit(X, Y)
        return
    model.fit(X, Y)
    search = GridSearchCV(LinearSVC(), {"C": [0.01, 0.1]}, scoring=scoring, cv=5).fit(X, Y)
    assert model.scores_.mean(axis=1) == pytest.approx(
        search.cv_results_["mean_test_score"], abs=0.005
    )


@quiet
def test_groups_stay_together():
    groups = np.arange(len(Y)) // 7
    seen = []

    class Spy(GroupKFold):
        def split(self, rows, y=None, groups=None):
            for train, test in super().split(rows, y, groups):
                seen.append(set(groups[train]) & set(groups[test]))
                yield train, test

    LinearSVCCV(Cs=[0.01, 0.1, 1.0], cv=Spy(3)).fit(X, Y, groups=groups)
    assert seen == [set(), set(), set()]


def test_a_splitter_that_lacks_its_groups_is_one_sentence():
    with pytest.raises(DataError, match=r"569 rows cannot be split by cv=GroupKFold\(.*groups"):
        LinearSVCCV(cv=GroupKFold(3)).fit(X, Y)


@quiet
@pytest.mark.parametrize("scale", ["standard", "minmax"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_scaling_is_learnt_inside_the_folds(scale, form):
    """The first row of a fold is enormous: a scale that had seen it would squash all others."""
    raw, y = CANCER[0][:300].copy(), CANCER[1][:300]
    cv = list(KFold(3).split(raw))
    spiked = raw.copy()
    spiked[cv[0][1][0]] *= 1e6
    one_fold = LinearSVCCV(Cs=[0.1, 1.0], cv=cv[:1], scale=scale)
    plain, with_spike = (one_fold.fit(form(rows), y).scores_ for rows in (raw, spiked))
    assert np.abs(plain - with_spike).max() <= 1.0 / len(cv[0][1])  # but for that row itself


@quiet
@pytest.mark.parametrize(
    ("scale", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())]
)
def test_a_scale_is_that_of_a_pipeline_folded_into_the_plane(scale, scaler):
    raw, y = CANCER
    model = LinearSVCCV(Cs=CS, scale=scale, tol=1e-9).fit(raw, y)
    pipeline = make_pipeline(scaler, LinearSVC(C=model.C_, tol=1e-9)).fit(raw, y)
    expected = pipeline.decision_function(raw)
    assert model.decision_function(raw) == pytest.approx(expected, abs=1e-3 * np.ptp(expected))
    search = GridSearchCV(
        make_pipeline(scaler, LinearSVC()), {"linearsvc__C": CS}, cv=StratifiedKFold(5)
    ).fit(raw, y)
    means = search.cv_results_["mean_test_score"]
    assert model.scores_.mean(axis=1) == pytest.approx(means, abs=0.005)


def test_sparse_columns_are_scaled_without_a_shift():
    rows = sp.csr_array(np.array([[0.0, 4.0], [2.0, 0.0], [0.0, -4.0], [2.0, 0.0]]))
    scaling = Scaling.of(rows, np.ones(4), "minmax")
    assert scaling.apply(rows).toarray().tolist() == [[0, 1], [1, 0], [0, -1], [1, 0]]
    spread = Scaling.of(rows, np.ones(4), "standard")
    assert spread.factor == pytest.approx([1.0, 1 / np.sqrt(8)])
    assert not spread.shift.any()


def test_weights_count_as_rows_in_the_scale():
    dense = np.array([[0.0], [1.0], [5.0]])
    weighted = Scaling.of(dense, np.array([1.0, 2.0, 0.0]), "standard")
    repeated = Scaling.of(dense[[0, 1, 1]], np.ones(3), "standard")
    assert weighted.shift == pytest.approx(repeated.shift)
    assert weighted.factor == pytest.approx(repeated.factor)


def test_the_plainest_of_those_within_a_standard_error():
    scores = np.array([[0.5, 0.6], [0.80, 0.90], [0.84, 0.94], [0.86, 0.94], [0.85, 0.93]])
    Cs = [{"C": C} for C in CS]
    trials = Trials.of_scores(Cs, scores)
    assert trials.choose("best") == 3
    assert trials.choose("one_standard_error") == 2  # 0.89 >= 0.90 - 0.04 > 0.85
    assert Trials.of_scores(Cs, scores[:, :1]).choose("one_standard_error") == 3
    assert Trials.of_scores(Cs, np.ones((5, 3))).choose("best") == 0


def test_the_one_standard_error_choice_is_never_larger_than_the_best():
    best, plain = (
        LinearSVCCV(Cs=CS, choice=choice).fit(X, Y) for choice in ("best", "one_standard_error")
    )
    assert plain.C_ <= best.C_
    assert np.array_equal(best.scores_, plain.scores_)


def test_an_edge_is_told():
    with pytest.warns(EdgeOfGridWarning, match=r"best C is 1e-05, the largest one tried: a larger"):
        LinearSVCCV(Cs=[1e-9, 1e-8, 1e-7, 1e-6, 1e-5]).fit(X, Y)


@pytest.mark.parametrize("model", [LinearSVCCV(), LinearSVRCV()])
@pytest.mark.parametrize("name", ["partial_fit", "fit_files"])
def test_folds_need_all_rows(model, name):
    assert not hasattr(model, name)
    with pytest.raises(UnavailableError, match=f"has no {name}: folds need all rows at hand"):
        getattr(model, name)


@quiet
def test_probabilities_come_with_the_chosen_machine():
    model = LinearSVCCV(Cs=[0.01, 0.1], scale="standard", calibrate="sigmoid", random_state=0)
    raw, y = CANCER
    shares = model.fit(raw, y).predict_proba(raw)
    assert shares.shape == (len(y), 2)
    assert np.array_equal(model.predict(raw), model.classes_[shares.argmax(axis=1)])


@quiet
def test_a_grid_moves_with_the_size_of_the_data():
    small, large = (LinearSVCCV(Cs=7).fit(size * X, Y).Cs_ for size in (1.0, 10.0))
    assert len(small) == 7
    assert small / large == pytest.approx(np.full(7, 100.0))
    assert small[-1] / small[0] == pytest.approx(1e6)


@pytest.mark.parametrize("Cs", [0, [], [1.0, -1.0], [np.inf], "many", [[1.0]]])
def test_values_that_are_none_are_refused(Cs):
    with pytest.raises(ParameterError, match="Cs="):
        LinearSVCCV(Cs=Cs).fit(X, Y)
    with pytest.raises(ParameterError, match="Cs="):
        regularization_path(LinearSVC(), X, Y, Cs=Cs)


@quiet
def test_balanced_class_weights_are_those_of_each_fold():
    few = np.r_[np.flatnonzero(Y == 1), np.flatnonzero(Y == 0)[:40]]
    cv = KFold(3, shuffle=True, random_state=1)
    settings = {"class_weight": "balanced"}
    model = LinearSVCCV(Cs=[0.01, 0.1], cv=cv, path_tol=1e-8, **settings).fit(X[few], Y[few])
    search = GridSearchCV(LinearSVC(tol=1e-8, **settings), {"C": [0.01, 0.1]}, cv=cv)
    means = search.fit(X[few], Y[few]).cv_results_["mean_test_score"]
    assert model.scores_.mean(axis=1) == pytest.approx(means, abs=0.003)


@quiet
def test_a_weight_of_two_is_the_row_twice_when_folds_are_given():
    weight = np.where(np.arange(len(Y)) % 3 == 0, 2.0, 1.0)
    folds = [(np.arange(200, len(Y)), np.arange(200)), (np.arange(300), np.arange(300, len(Y)))]
    twice = np.repeat(np.arange(len(Y)), weight.astype(int))
    folds_of_copies = [
        tuple(np.flatnonzero(np.isin(twice, part)) for part in fold) for fold in folds
    ]
    weighted = LinearSVCCV(Cs=[0.01, 0.1], cv=folds, path_tol=1e-8).fit(X, Y, weight)
    copies = LinearSVCCV(Cs=[0.01, 0.1], cv=folds_of_copies, path_tol=1e-8).fit(X[twice], Y[twice])
    assert weighted.scores_ == pytest.approx(copies.scores_, abs=1e-9)
    assert weighted.coef_ == pytest.approx(copies.coef_, abs=1e-3)


@quiet
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_a_regressor_chooses_as_a_grid_search_does(loss):
    rows, values = load_diabetes(return_X_y=True, scaled=False)
    rows = StandardScaler().fit_transform(rows)
    Cs = [0.01, 0.1, 1.0, 10.0]
    model = LinearSVRCV(Cs=Cs, loss=loss, path_tol=1e-8).fit(rows, values)
    search = GridSearchCV(LinearSVR(loss=loss, tol=1e-8), {"C": Cs}, cv=5).fit(rows, values)
    folds = [search.cv_results_[f"split{k}_test_score"] for k in range(5)]
    assert model.scores_ == pytest.approx(np.array(folds).T, abs=1e-3)
    absolute = make_scorer(mean_absolute_error, greater_is_better=False)
    assert LinearSVRCV(Cs=Cs, loss=loss, scoring=absolute).fit(rows, values).scores_.max() < 0


@quiet
@pytest.mark.parametrize("cls", [LinearSVCCV, LinearSVRCV])
def test_the_choice_is_saved_with_the_machine(cls, tmp_path):
    model = cls(Cs=[0.01, 0.1], scale="standard").fit(X, Y)
    save(model, tmp_path / "model.hedge")
    again = load(tmp_path / "model.hedge")
    assert again.C_ == model.C_
    assert again.scores_.tobytes() == model.scores_.tobytes()
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_regularization_path_is_made_of_certified_fits(loss):
    rows, labels = load_iris(return_X_y=True)
    held, used = np.arange(150) % 4 == 0, np.arange(150) % 4 != 0
    validation = (rows[held], labels[held])
    model = LinearSVC(loss=loss, tol=1e-7)
    path = regularization_path(
        model, rows[used], labels[used], Cs=[0.01, 0.1, 1.0], validation=validation
    )
    assert path.coefs.shape == (3, 3, 4)
    for k, C in enumerate(path.Cs):
        cold = LinearSVC(loss=loss, tol=1e-7, C=C).fit(rows[used], labels[used])
        assert path.coefs[k] == pytest.approx(cold.coef_, abs=1e-2)
        assert path.margins[k] == pytest.approx(1.0 / np.linalg.norm(cold.coef_, axis=1), rel=1e-2)
        assert path.train_error[k] == pytest.approx(
            1 - cold.score(rows[used], labels[used]), abs=0.03
        )
        assert path.validation_error[k] == pytest.approx(1 - cold.score(*validation), abs=0.06)
        assert all(proof.is_certified for proof in path.certificates[k])
    assert np.all(np.diff(path.margins[:, 0]) < 0)  # the less w costs, the longer it is
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("multi_class", ["ovo", "crammer_singer"])
def test_a_path_of_pairs_or_of_all_classes_at_once_is_refused(multi_class):
    model = LinearSVC(loss="hinge", multi_class=multi_class)
    with pytest.raises(ParameterError, match=f"got multi_class='{multi_class}'; use 'ovr'"):
        regularization_path(model, *load_iris(return_X_y=True))


def test_a_path_of_a_regressor_has_squared_errors():
    rows, values = load_diabetes(return_X_y=True)
    path = regularization_path(LinearSVR(), rows, values, Cs=4)
    assert path.validation_error is None
    last = LinearSVR(C=path.Cs[-1]).fit(rows, values)
    assert path.train_error[-1] == pytest.approx(
        np.mean((last.predict(rows) - values) ** 2), rel=0.01
    )
    assert np.all(np.diff(path.train_error) < 0)
