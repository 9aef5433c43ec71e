"""Single trees that are fitted: categories, what is asked of them, saving, stopping."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import tree as theirs

import hedgerow
from hedgerow import (
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Tree,
    UnseenCategoryWarning,
)
from hedgerow._base.state import StateError, dump_state
from tests.fitted_trees import (
    DIABETES,
    IRIS,
    PROGRESS,
    SPECIES,
    TREES,
    arrays_of,
    assert_same,
    table,
)

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
