"""Single trees as estimators: parameters, targets, weights, what is asked of them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import tree as theirs
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

import hedgerow
from hedgerow import (
    DataError,
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ParameterError,
    Tree,
    UnseenCategoryWarning,
)
from hedgerow._state import StateError, dump_state, load_state

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
TREES = [DecisionTreeClassifier, DecisionTreeRegressor]


def table(n=200, seed=0):
    """Return a frame with a category that decides, missing values, and its classes."""
    random = np.random.default_rng(seed)
    kinds = np.array(["ash", "elm", "fir", "oak"])[random.integers(4, size=n)]
    size = np.where(random.random(n) < 0.2, np.nan, random.normal(size=n))
    y = np.where(np.isin(kinds, ["ash", "oak"]), "broad", "thin")
    return pd.DataFrame({"size": size, "kind": kinds}), y


def arrays_of(tree):
    """Return all that a tree holds, for comparison."""
    return {name: getattr(tree, name) for name in Tree.__dataclass_fields__}


def assert_same(a, b):
    for (name, one), other in zip(arrays_of(a).items(), arrays_of(b).values(), strict=True):
        assert_array_equal(one, other, err_msg=name)


# ----------------------------------------------------------------------------- against scikit-learn


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"criterion": "entropy"},
        {"criterion": "log_loss", "max_depth": 3},
        {"max_leaf_nodes": 6},
        {"min_samples_leaf": 5},
        {"min_samples_leaf": 0.04},
        {"min_samples_split": 0.2},
        {"min_weight_fraction_leaf": 0.1},
        {"min_impurity_decrease": 0.02},
        {"ccp_alpha": 0.01},
        {"class_weight": {0: 3.0}},
    ],
    ids=str,
)
def test_a_tree_for_classes_is_as_large_and_as_good_as_scikit_learns(parameters):
    ours = DecisionTreeClassifier(**parameters).fit(IRIS, SPECIES)
    peer = theirs.DecisionTreeClassifier(random_state=0, **parameters).fit(IRIS, SPECIES)
    assert ours.score(IRIS, SPECIES) == peer.score(IRIS, SPECIES)
    assert ours.get_n_leaves() == peer.get_n_leaves()
    assert ours.status_ == "grown"
    assert_allclose(ours.tree_.impurity[0], peer.tree_.impurity[0], rtol=1e-12)
    assert ours.tree_.weighted_n_node_samples[0] == peer.tree_.weighted_n_node_samples[0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 4},
        {"criterion": "variance", "max_depth": 4},
        {"criterion": "absolute_error", "max_depth": 4},
        {"criterion": "poisson", "max_depth": 4},
        {"max_leaf_nodes": 12},
        {"min_samples_leaf": 20},
        {"min_impurity_decrease": 30.0},
        {"ccp_alpha": 20.0},
    ],
    ids=str,
)
def test_a_tree_for_values_is_as_large_and_as_good_as_scikit_learns(parameters):
    ours = DecisionTreeRegressor(**parameters).fit(DIABETES, PROGRESS)
    known = parameters | ({"criterion": "squared_error"} if "variance" in str(parameters) else {})
    peer = theirs.DecisionTreeRegressor(random_state=0, **known).fit(DIABETES, PROGRESS)
    assert_allclose(ours.predict(DIABETES), peer.predict(DIABETES), rtol=1e-10)
    assert (ours.get_n_leaves(), ours.get_depth()) == (peer.get_n_leaves(), peer.get_depth())
    assert_allclose(ours.feature_importances_.sum(), 1.0)


def test_names_and_defaults_of_parameters_are_scikit_learns():
    for ours, peer in (
        (DecisionTreeClassifier(), theirs.DecisionTreeClassifier()),
        (DecisionTreeRegressor(), theirs.DecisionTreeRegressor()),
    ):
        known, own = peer.get_params(), ours.get_params()
        assert {name: own[name] for name in known} == known
        assert set(own) - set(known) == {"categorical_features", "n_jobs", "max_time"}


# ------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        ("criterion", "gain", "one of 'gini', 'entropy', 'log_loss', 'misclassification'"),
        ("splitter", "worst", "one of 'best', 'random', 'mean', 'median'"),
        ("max_depth", 0, "None or an integer of at least 1"),
        ("min_samples_split", 1, "an integer of at least 2 or a float above 0 and up to 1"),
        ("min_samples_leaf", 1.0, "an integer of at least 1 or a float above 0 and below 1"),
        ("min_weight_fraction_leaf", 0.6, "at most 0.5"),
        ("max_features", "auto", "'sqrt', 'log2'"),
        ("max_features", 0.0, "a float above 0"),
        ("max_leaf_nodes", 1, "an integer of at least 2"),
        ("min_impurity_decrease", -1.0, "of at least 0"),
        ("ccp_alpha", np.inf, "a finite number"),
        ("class_weight", "even", "'balanced', a dictionary"),
        ("monotonic_cst", [2, 0, 0, 0], "-1, 0 or 1"),
        ("categorical_features", "all", "'from_dtype'"),
        ("categorical_features", [0.5], "a list of column names"),
        ("categorical_features", [0, "a"], "a list of column names"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_with_what_can(parameter, value, expected):
    with pytest.raises(ParameterError) as caught:
        DecisionTreeClassifier(**{parameter: value}).fit(IRIS, SPECIES)
    assert f"{parameter}={value!r} is not allowed in DecisionTreeClassifier" in str(caught.value)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("max_features", "meant"),
    [(None, 4), ("sqrt", 2), ("log2", 2), (3, 3), (9, 4), (0.3, 1), (1.0, 4)],
)
def test_max_features_means_a_number_of_features(max_features, meant):
    model = DecisionTreeClassifier(max_features=max_features, random_state=0).fit(IRIS, SPECIES)
    assert model.max_features_ == meant


def test_without_drawing_features_nothing_is_random():
    for model in (DecisionTreeClassifier(), DecisionTreeClassifier(splitter="median")):
        trees = [clone(model).set_params(random_state=s).fit(IRIS, SPECIES) for s in (0, 1)]
        assert_same(trees[0].tree_, trees[1].tree_)


def test_the_seed_decides_what_is_drawn():
    for drawn in ({"max_features": 1}, {"splitter": "random"}):
        trees = [
            DecisionTreeClassifier(random_state=seed, **drawn).fit(IRIS, SPECIES).tree_
            for seed in (7, 7, 8)
        ]
        assert_same(trees[0], trees[1])
        assert trees[0].node_count != trees[2].node_count or np.any(
            trees[0].threshold != trees[2].threshold
        )


@pytest.mark.parametrize("splitter", ["mean", "median"])
def test_simple_rules_split_where_they_say(splitter):
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    model = DecisionTreeRegressor(splitter=splitter, max_depth=1).fit(X, [0, 0, 1, 1, 1])
    goes_left = model.apply(X) == 1
    middle = X.mean() if splitter == "mean" else np.median(X)
    assert_array_equal(goes_left, X[:, 0] <= middle)


def test_monotonic_constraints_are_obeyed_and_refused_where_they_mean_nothing():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = X[:, 0] + 0.5 * random.normal(size=300)
    grid = np.column_stack([np.linspace(-3, 3, 60), np.zeros(60)])
    for sign in (1, -1):
        values = DecisionTreeRegressor(monotonic_cst=[sign, 0]).fit(X, sign * y).predict(grid)
        classes = DecisionTreeClassifier(monotonic_cst=[sign, 0]).fit(X, sign * y > 0)
        for curve in (values, classes.predict_proba(grid)[:, 1]):
            assert (sign * np.diff(curve) >= 0).all()
            assert np.ptp(curve) > 0
    free = DecisionTreeRegressor().fit(X, y).predict(grid)
    assert (np.diff(free) < 0).any()
    with pytest.raises(
        ParameterError, match="monotonic_cst has shape 3 but the input data X has 2"
    ):
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0]).fit(X, y)
    with pytest.raises(DataError, match="not supported with multiple outputs"):
        DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, np.column_stack([y, y]))
    with pytest.raises(DataError, match="not supported with multiclass classification"):
        DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0]).fit(IRIS, SPECIES)
    frame, kinds = table()
    with pytest.raises(ParameterError, match="constrains column 1, whose categories have no order"):
        DecisionTreeClassifier(monotonic_cst=[0, 1]).fit(frame, kinds)


# ----------------------------------------------------------------------------- targets and weights


@pytest.mark.parametrize("cls", TREES)
def test_a_weight_of_two_is_a_row_given_twice_and_one_of_zero_none(cls):
    random = np.random.default_rng(3)
    X, weights = random.normal(size=(120, 3)), random.integers(0, 3, size=120)
    y = random.normal(size=120) if cls is DecisionTreeRegressor else random.integers(3, size=120)
    weighted = cls(max_depth=6).fit(X, y, sample_weight=weights)
    repeated = cls(max_depth=6).fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)
    assert_array_equal(weighted.tree_.feature, repeated.tree_.feature)
    assert_array_equal(weighted.tree_.threshold, repeated.tree_.threshold)
    assert weighted.tree_.n_node_samples[0] == np.count_nonzero(weights)


def test_shares_of_rows_are_of_those_with_weight():
    X = np.arange(40.0)[:, None]
    y, weights = np.arange(40) % 2, np.arange(40) < 20
    few = DecisionTreeClassifier(min_samples_leaf=0.5).fit(X, y, sample_weight=weights)
    assert few.tree_.n_node_samples[few.tree_.is_leaf].min() >= 10
    alone = DecisionTreeClassifier(min_samples_leaf=0.5).fit(X[:20], y[:20])
    assert_array_equal(few.tree_.threshold, alone.tree_.threshold)


def test_balanced_classes_weigh_the_same():
    y = SPECIES > 1
    model = DecisionTreeClassifier(class_weight="balanced", max_depth=1).fit(IRIS, y)
    assert_allclose(model.tree_.value[0, 0], [0.5, 0.5])
    assert_allclose(model.tree_.weighted_n_node_samples[0], len(y))
    given = DecisionTreeClassifier(class_weight={False: 0.75, True: 1.5}, max_depth=1).fit(IRIS, y)
    assert_allclose(given.tree_.value, model.tree_.value)


def test_several_outputs_of_classes_have_their_own_classes():
    Y = np.column_stack([SPECIES, np.where(SPECIES == 2, 7, 3)])
    model = DecisionTreeClassifier().fit(IRIS, Y)
    assert [classes.tolist() for classes in model.classes_] == [[0, 1, 2], [3, 7]]
    assert model.n_classes_.tolist() == [3, 2]
    assert model.n_outputs_ == 2
    assert_array_equal(model.predict(IRIS), Y)
    assert [shares.shape for shares in model.predict_proba(IRIS)] == [(150, 3), (150, 2)]
    assert [logs.max() for logs in model.predict_log_proba(IRIS)] == [0.0, 0.0]
    again = load_state(*dump_state(model))
    assert_array_equal(again.predict(IRIS), Y)


def test_labels_of_several_outputs_may_be_text_of_different_lengths():
    Y = [["a", "long words"], ["b", "no"], ["a", "no"]]
    model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], Y)
    assert model.predict([[0.0], [1.0], [2.0]]).tolist() == Y
    frame = pl.DataFrame({"one": [0, 1, 1], "two": [5, 5, 6]})
    assert DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], frame).n_classes_.tolist() == [2, 2]


def test_class_weights_of_several_outputs_are_multiplied():
    Y = np.column_stack([SPECIES > 0, SPECIES > 1])
    listed = [{False: 2.0, True: 1.0}, {False: 1.0, True: 3.0}]
    model = DecisionTreeClassifier(class_weight=listed, max_depth=1).fit(IRIS, Y)
    assert model.tree_.weighted_n_node_samples[0] == 50 * 2 + 50 * 1 + 50 * 3
    with pytest.raises(DataError, match="one dictionary for 2 outputs"):
        DecisionTreeClassifier(class_weight=listed[0]).fit(IRIS, Y)
    with pytest.raises(DataError, match="has 2 dictionaries for 1 outputs"):
        DecisionTreeClassifier(class_weight=listed).fit(IRIS, SPECIES > 0)


def test_several_outputs_of_values_are_split_together():
    Y = np.column_stack([PROGRESS, DIABETES[:, 2]])
    model = DecisionTreeRegressor().fit(DIABETES, Y)
    assert_allclose(model.predict(DIABETES), Y)
    one = DecisionTreeRegressor().fit(DIABETES, PROGRESS[:, None])
    assert one.predict(DIABETES).shape == PROGRESS.shape


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (DecisionTreeClassifier(), np.linspace(0, 1, 3), "use DecisionTreeRegressor"),
        (DecisionStump(), np.linspace(0, 1, 3), r"use DecisionTreeRegressor\(max_depth=1\)"),
        (DecisionTreeClassifier(), [0, 1], "X has 3 rows but y has 2 labels"),
        (DecisionTreeClassifier(), [[0, 1], [1, 0]], "X has 3 rows but y has 2"),
        (DecisionTreeClassifier(), None, "requires y to be passed"),
        (DecisionTreeClassifier(), [0, None, 1], "y contains None at row 1"),
        (DecisionTreeRegressor(), [0.0, np.nan, 1.0], "y is nan at row 1"),
        (DecisionTreeRegressor(), ["a", "b", "c"], "y holds 'a' at row 0"),
        (DecisionTreeRegressor(criterion="poisson"), [1, -1, 2], "negative.*row 1 has -1"),
        (DecisionTreeRegressor(criterion="poisson"), [0, 0, 0], "Sum of y is not positive"),
        (DecisionTreeClassifier(class_weight={0: 0.0}), [0, 0, 0], "leaves no row any weight"),
    ],
)
def test_targets_that_cannot_be_used_are_refused(estimator, y, message):
    with pytest.raises(DataError, match=message):
        estimator.fit([[0.0], [1.0], [2.0]], y)


def test_a_fit_that_is_refused_leaves_the_model_as_it_was():
    model = DecisionTreeClassifier().fit(IRIS, SPECIES)
    before = model.tree_
    with pytest.raises(DataError):
        model.fit(IRIS[:, :2], SPECIES[:-1])
    with pytest.raises(ParameterError):
        model.set_params(monotonic_cst=[0]).fit(IRIS[:, :2], SPECIES > 1)
    assert model.tree_ is before
    assert model.n_features_in_ == 4
    new = DecisionTreeClassifier(monotonic_cst=[0])
    with pytest.raises(ParameterError):
        new.fit(IRIS, SPECIES > 1)
    assert not hasattr(new, "n_features_in_")


def test_one_class_is_one_leaf():
    model = DecisionTreeClassifier().fit(IRIS, np.full(150, "oak"))
    assert model.get_n_leaves() == 1
    assert model.predict(IRIS[:1]).tolist() == ["oak"]
    assert model.feature_importances_.tolist() == [0.0] * 4


# -------------------------------------------------------------------- categories and missing values


def test_one_split_by_categories_does_what_many_by_numbers_would():
    frame, y = table()
    model = DecisionTreeClassifier().fit(frame, y)
    assert (model.get_n_leaves(), model.score(frame, y)) == (2, 1.0)
    assert model.categories_[1].tolist() == ["ash", "elm", "fir", "oak"]
    assert model.categories_[0].size == 0
    left = model.tree_.categories_left(0).tolist()
    assert left in ([0, 3], [1, 2])
    assert model.feature_importances_.tolist() == [0.0, 1.0]


def test_a_category_that_was_not_seen_goes_the_way_of_a_missing_one():
    frame, y = table()
    model = DecisionTreeClassifier(min_samples_leaf=2).fit(frame, y)
    strange = pd.DataFrame({"size": [0.0, 0.0], "kind": ["yew", None]})
    with pytest.warns(UnseenCategoryWarning, match="column 'kind' of X holds the category 'yew'"):
        leaves = model.apply(strange)
    assert leaves[0] == leaves[1]


def test_missing_values_go_to_the_side_where_they_help():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan], [np.nan]])
    for y in ([0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0]):
        model = DecisionTreeClassifier(max_depth=1).fit(X, y)
        assert_array_equal(model.predict(X), y)
    alone = DecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 0, 0, 1, 1])
    assert_array_equal(alone.predict(X), [0, 0, 0, 0, 1, 1])


def test_sparse_rows_give_the_tree_of_dense_ones():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 10)) * (random.random((200, 10)) < 0.3)
    y = random.integers(3, size=200)
    dense = DecisionTreeClassifier().fit(X, y)
    for kind in (sp.csr_array, sp.csc_matrix):
        sparse = DecisionTreeClassifier().fit(kind(X), y)
        assert_same(sparse.tree_, dense.tree_)
        assert_array_equal(sparse.apply(kind(X)), dense.apply(X))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_the_number_of_threads_changes_nothing(n_jobs):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(5000, 8)), random.integers(2, size=5000)
    one = DecisionTreeClassifier(n_jobs=1, max_depth=8).fit(X, y)
    other = DecisionTreeClassifier(n_jobs=n_jobs, max_depth=8).fit(X, y)
    assert_same(one.tree_, other.tree_)
    assert_array_equal(one.apply(X), other.apply(X))


# ------------------------------------------------------------------------------ what is asked of it


@pytest.mark.parametrize("cls", TREES)
def test_leaves_paths_and_predictions_agree(cls):
    model = cls(max_depth=5).fit(IRIS, SPECIES)
    leaves = model.apply(IRIS)
    assert model.tree_.is_leaf[leaves].all()
    passed = model.decision_path(IRIS)
    assert passed.shape == (150, model.tree_.node_count)
    assert_array_equal(passed.sum(axis=1).A1, model.tree_.depth[leaves] + 1)
    assert_array_equal(passed.sum(axis=0).A1, model.tree_.n_node_samples)
    assert set(np.unique(passed.data)) == {1}
    for row, leaf in zip(range(0, 150, 30), leaves[::30], strict=True):
        nodes = passed.indices[passed.indptr[row] : passed.indptr[row + 1]]
        assert nodes[0] == 0
        assert nodes[-1] == leaf
        assert_array_equal(model.tree_.parent[nodes[1:]], nodes[:-1])


def test_shares_are_those_of_the_rows_in_the_leaf():
    model = DecisionTreeClassifier(max_depth=2).fit(IRIS, SPECIES)
    leaves, shares = model.apply(IRIS), model.predict_proba(IRIS)
    for leaf in np.unique(leaves):
        counts = np.bincount(SPECIES[leaves == leaf], minlength=3)
        assert_allclose(shares[leaves == leaf], np.tile(counts / counts.sum(), (counts.sum(), 1)))
    assert_array_equal(model.predict(IRIS), shares.argmax(axis=1))
    assert_array_equal(model.predict(IRIS[:1]), shares[:1].argmax(axis=1))
    with np.errstate(divide="ignore"):
        assert_array_equal(model.predict_log_proba(IRIS), np.log(shares))


def test_what_is_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    for ask in ("predict", "predict_proba", "apply", "decision_path"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(DecisionTreeClassifier(), ask)(IRIS)
    with pytest.raises(NotFittedError):
        DecisionTreeRegressor().get_depth()
    with pytest.raises(NotFittedError):
        DecisionTreeRegressor().prune()


def test_the_path_of_pruning_leads_from_the_whole_tree_to_the_root():
    path = DecisionTreeClassifier(ccp_alpha=1.0).cost_complexity_pruning_path(IRIS, SPECIES)
    peer = theirs.DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(IRIS, SPECIES)
    assert_allclose(path.ccp_alphas, peer.ccp_alphas, atol=1e-12)
    assert_allclose(path.impurities, peer.impurities, atol=1e-12)


def test_pruning_returns_a_smaller_model_and_a_new_fit_forgets_it():
    model = DecisionTreeClassifier().fit(IRIS, SPECIES)
    small = model.prune("cost_complexity", alpha=0.02)
    assert small.get_n_leaves() < model.get_n_leaves()
    assert small.pruning_.n_leaves_before == model.get_n_leaves()
    assert (
        small.tree_.node_count
        == DecisionTreeClassifier(ccp_alpha=0.02).fit(IRIS, SPECIES).tree_.node_count
    )
    small.fit(IRIS, SPECIES)
    assert not hasattr(small, "pruning_")
    assert small.get_n_leaves() == model.get_n_leaves()


def test_a_stump_is_a_tree_of_depth_one():
    for parameters in ({}, {"criterion": "misclassification"}, {"class_weight": "balanced"}):
        stump = DecisionStump(**parameters).fit(IRIS, SPECIES)
        tree = DecisionTreeClassifier(max_depth=1, **parameters).fit(IRIS, SPECIES)
        assert_same(stump.tree_, tree.tree_)
    assert stump.get_depth() == 1
    assert "max_depth" not in stump.get_params()


# -------------------------------------------------------------------------------- keeping and hearing


def models():
    frame, y = table()
    return {
        "numbers": (DecisionTreeRegressor(max_depth=4).fit(DIABETES, PROGRESS), DIABETES),
        "categories": (DecisionTreeClassifier(min_samples_leaf=3).fit(frame, y), frame),
        "pruned": (DecisionTreeClassifier().fit(IRIS, SPECIES).prune(), IRIS),
        "stump": (DecisionStump(class_weight={0: 2.0}).fit(IRIS, SPECIES), IRIS),
        "settings": (
            DecisionTreeClassifier(monotonic_cst=np.array([0, 1]), categorical_features=["kind"])
            .set_params(monotonic_cst=[1, 0])
            .fit(frame, y),
            frame,
        ),
    }


@pytest.mark.parametrize("name", ["numbers", "categories", "pruned", "stump", "settings"])
def test_a_saved_tree_is_the_same_tree(name, tmp_path):
    model, X = models()[name]
    hedgerow.save(model, tmp_path / "m.hedge")
    for again in (hedgerow.load(tmp_path / "m.hedge"), pickle.loads(pickle.dumps(model))):
        assert_same(again.tree_, model.tree_)
        assert again.get_params() == model.get_params()
        assert_array_equal(again.predict(X), model.predict(X))
        assert_array_equal(again.feature_importances_, model.feature_importances_)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("children_left", lambda tree: np.zeros_like(tree.children_left)),
        ("children_right", lambda tree: tree.children_left),
        ("feature", lambda tree: np.where(tree.is_leaf, -2, 99)),
        ("threshold", lambda tree: tree.threshold * np.nan),
        ("value", lambda tree: tree.value[:, :, :2]),
        ("impurity", lambda tree: tree.impurity[1:]),
    ],
)
def test_arrays_that_are_no_tree_are_not_loaded(field, value):
    model = DecisionTreeClassifier().fit(IRIS, SPECIES)
    changed = {**arrays_of(model.tree_), field: np.array(value(model.tree_))}
    model.tree_ = Tree(**changed)
    with pytest.raises(StateError, match="must be"):
        dump_state(model)


def test_callbacks_hear_of_a_fit_and_stop_it():
    heard = []
    model = DecisionTreeClassifier().set_callbacks(heard.append).fit(IRIS, SPECIES)
    assert [(event.task, event.done, event.total) for event in heard] == [
        ("DecisionTreeClassifier", 0, 1),
        ("DecisionTreeClassifier", 1, 1),
    ]
    assert heard[-1].figures == {"n_leaves": model.get_n_leaves()}
    stopped = DecisionTreeClassifier().set_callbacks(lambda _: True).fit(IRIS, SPECIES)
    assert (stopped.status_, stopped.get_n_leaves()) == ("stopped", 1)


def test_a_fit_that_has_no_time_left_is_one_leaf_that_predicts():
    frame, y = table()
    with hedgerow.watch(max_time=1e-9):
        model = DecisionTreeClassifier().fit(frame, y)
    assert (model.status_, model.get_n_leaves()) == ("time_limit", 1)
    assert model.predict(frame[:2]).shape == (2,)
    assert model.categories_[1].tolist() == ["ash", "elm", "fir", "oak"]
