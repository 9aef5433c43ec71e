"""Rows that are objects: kernels of strings, sequences and whatever else a function can compare."""

from __future__ import annotations

import pickle
import signal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from hedgerow import RBF, SVC, SVDD, SVR, FunctionKernel, NuSVC, NuSVR, OneClassSVM, load, save
from hedgerow.cli.loaded_model import load_model
from hedgerow.errors import DataError, ParameterError
from hedgerow.kernels import ObjectKernel, Precomputed, RowsKernel
from hedgerow.perceptron import KernelPerceptron
from hedgerow.testing import check_kernel
from tests.object_kernels import Alignment, Spectrum, SpectrumByBlocks, strings

TEXTS, KINDS = strings(60)
NEW, _ = strings(30, seed=1)
WEIGHT = np.where(np.arange(60) % 5 == 0, 0.0, 1.0 + np.arange(60) % 3)
TARGETS = np.array([text.count("a") - text.count("b") for text in TEXTS], dtype=float)
TABLE, NEW_TABLE = Spectrum()(TEXTS), Spectrum()(NEW, TEXTS)

AS_ON_THE_TABLE = {"rtol": 1e-7, "atol": 1e-7}
"""Both are solved to the last digits, on the way there by sums in another order."""


def common_pairs(x, z):
    return Spectrum().value(x, z)


def common_pairs_of_blocks(rows, others):
    return np.array([[common_pairs(x, z) for z in others] for x in rows])


class Source:
    def rows(self, X, indices):
        return common_pairs_of_blocks([X[i] for i in indices], X)


KERNELS = {
    "class": Spectrum(),
    "class_by_blocks": SpectrumByBlocks(),
    "function": FunctionKernel(common_pairs_of_blocks),
    "pairwise": FunctionKernel(common_pairs, pairwise=True),
    "bare_function": common_pairs_of_blocks,
    "rows": RowsKernel(Source()),
    "sum": 0.5 * Spectrum() + 0.5 * FunctionKernel(common_pairs, pairwise=True),
}
MACHINES = [
    SVC(tol=1e-6),
    SVC(multi_class="ovr", tol=1e-6),
    SVC(multi_class="crammer_singer", tol=1e-6),
    NuSVC(nu=0.1, tol=1e-6),
    SVR(tol=1e-6),
    NuSVR(tol=1e-6),
    OneClassSVM(nu=0.2, tol=1e-6),
    KernelPerceptron(max_iter=20),
]


def answers(model, rows):
    return (
        model.predict
        if hasattr(model, "epsilon")
        else getattr(model, "decision_function", model.predict)
    )(rows)


# ------------------------------------------------------------------------- the same as on a table


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_machine_of_strings_is_that_of_the_table_of_their_values(kernel):
    model = SVC(kernel=kernel, tol=1e-6).fit(TEXTS, KINDS)
    judge = SVC(kernel="precomputed", tol=1e-6).fit(TABLE, KINDS)
    assert model.certificate_.is_certified
    np.testing.assert_allclose(
        model.decision_function(NEW), judge.decision_function(NEW_TABLE), **AS_ON_THE_TABLE
    )
    assert np.array_equal(model.predict(NEW), judge.predict(NEW_TABLE))
    assert model.support_vectors_ == [TEXTS[i] for i in model.support_]
    assert not hasattr(model, "n_features_in_")
    assert model.shape_fit_.tolist() == [60]


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_machine_takes_strings(machine, weight):
    y = TARGETS if isinstance(machine, SVR | NuSVR) else KINDS
    model = clone(machine).set_params(kernel=Spectrum()).fit(TEXTS, y, sample_weight=weight)
    if isinstance(machine, KernelPerceptron):
        by_blocks = SpectrumByBlocks()
        judge = clone(machine).set_params(kernel=by_blocks).fit(TEXTS, y, sample_weight=weight)
        assert model.support_vectors_ == [TEXTS[i] for i in model.support_]
        assert np.array_equal(model.decision_function(NEW), judge.decision_function(NEW))
        return
    judge = clone(machine).set_params(kernel="precomputed").fit(TABLE, y, sample_weight=weight)
    assert model.certificate_.is_certified
    np.testing.assert_allclose(answers(model, NEW), answers(judge, NEW_TABLE), **AS_ON_THE_TABLE)
    assert set(model.support_) <= set(np.flatnonzero(WEIGHT if weight is not None else WEIGHT + 1))


def test_a_ball_of_strings_is_that_of_their_table():
    model = SVDD(kernel=Spectrum(), nu=0.2, tol=1e-8).fit(TEXTS)
    judge = SVDD(kernel="precomputed", nu=0.2, tol=1e-8).fit(TABLE)
    assert model.radius_ == pytest.approx(judge.radius_, rel=1e-9)
    centre = judge.support_, judge.dual_coef_[0]
    own = np.array([common_pairs(x, x) for x in NEW])
    distances = own - 2 * NEW_TABLE[:, centre[0]] @ centre[1] + judge.sq_norm_
    np.testing.assert_allclose(model.score_samples(NEW), -distances, rtol=1e-6)


def test_the_form_of_the_kernel_changes_no_bit():
    models = [
        SVC(kernel=KERNELS[name]).fit(TEXTS, KINDS)
        for name in ("class", "class_by_blocks", "function", "pairwise", "bare_function", "rows")
    ]
    for one, other in pairwise(models):
        assert np.array_equal(one.dual_coef_, other.dual_coef_)
        assert np.array_equal(one.decision_function(NEW), other.decision_function(NEW))


@pytest.mark.parametrize(
    "container",
    [tuple, lambda texts: np.array(texts, dtype=object), np.array, pd.Series],
    ids=["tuple", "objects", "texts", "series"],
)
def test_the_container_does_not_matter(container):
    model = SVC(kernel=Spectrum()).fit(TEXTS, KINDS)
    other = SVC(kernel=Spectrum()).fit(container(TEXTS), KINDS)
    assert np.array_equal(model.decision_function(NEW), other.decision_function(container(NEW)))
    assert other.support_vectors_ == model.support_vectors_
    assert {type(item) for item in other.support_vectors_} == {str}


# -------------------------------------------------------------------- other objects than strings


SEQUENCES = [list(np.linspace(0, 1 + k % 2, 3 + i % 4)) for i, k in enumerate(range(24))]


@pytest.mark.parametrize("form", [list, np.array], ids=["lists", "arrays"])
def test_sequences_of_different_lengths_are_objects(form):
    rows = [form(sequence) for sequence in SEQUENCES]
    sides = np.arange(24) % 2
    model = SVC(kernel=FunctionKernel(Alignment().value, pairwise=True), C=10.0).fit(rows, sides)
    assert model.score(rows, sides) == 1.0
    alike = [i for i, sequence in enumerate(SEQUENCES) if len(sequence) == 4]
    # As many numbers each, which a function of blocks takes for vectors: they are objects all the same.
    equal = SVC(kernel=FunctionKernel(Alignment().value, pairwise=True), C=10.0)
    assert isinstance(equal.fit([rows[i] for i in alike], range(len(alike))).support_vectors_, list)
    assert np.array_equal(
        model.decision_function([rows[i] for i in alike]), model.decision_function(rows)[alike]
    )


def test_a_function_of_two_vectors_takes_the_rows_of_an_array():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = X[:, 0] > 0
    by_rows = FunctionKernel(lambda x, z: np.exp(-np.sum((x - z) ** 2)), pairwise=True)
    model = SVC(kernel=by_rows, tol=1e-6).fit(X, y)
    judge = SVC(kernel=RBF(gamma=1.0), tol=1e-6).fit(X, y)
    assert model.n_features_in_ == 3
    np.testing.assert_allclose(
        model.decision_function(X), judge.decision_function(X), **AS_ON_THE_TABLE
    )


def test_vectors_given_to_a_function_of_blocks_come_as_arrays():
    kinds = set()

    def product(A, B):
        kinds.update({type(A), type(B)})
        return A @ B.T

    SVC(kernel=product).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 1])
    assert kinds == {np.ndarray}
    kinds.clear()

    def lengths(A, B):
        kinds.update({type(A), type(B)})
        return [[len(a) * len(b) for b in B] for a in A]

    SVC(kernel=lengths).fit([[1], [1, 2], [1, 2, 3]], [0, 1, 1])
    assert kinds == {list}


def test_images_may_be_rows():
    images = np.random.default_rng(0).normal(size=(20, 4, 5))
    kernel = FunctionKernel(lambda x, z: float(np.sum(x * z)), pairwise=True)
    flat = images.reshape(20, -1)
    y = flat[:, 0] > 0
    model = SVC(kernel=kernel, tol=1e-6).fit(images, y)
    judge = SVC(kernel="linear", tol=1e-6).fit(flat, y)
    np.testing.assert_allclose(
        model.decision_function(images), judge.decision_function(flat), **AS_ON_THE_TABLE
    )


# ------------------------------------------------------------------------------------- by blocks


def test_the_whole_table_is_never_asked_for():
    asked = []

    class Spy(SpectrumByBlocks):
        def values(self, rows, others):
            asked.append((len(rows), len(others)))
            return super().values(rows, others)

    texts, kinds = strings(3000)
    model = SVC(kernel=Spy(), C=0.01, tol=0.1).fit(texts, kinds == 0)
    assert max(n for n, _ in asked) <= 1024
    asked.clear()
    model.predict(NEW)
    assert asked == [(len(NEW), len(model.support_))]


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_fit_computes_no_value_of_few_objects_twice_but_the_diagonal(multi_class):
    n_asked = 0

    def counted(x, z):
        nonlocal n_asked
        n_asked += 1
        return common_pairs(x, z)

    SVC(kernel=FunctionKernel(counted, pairwise=True), multi_class=multi_class).fit(TEXTS, KINDS)
    n_diagonals = {"ovo": 2, "ovr": 1}[multi_class]  # of each pair that an object is in, or of all
    assert n_asked <= len(TEXTS) ** 2 + n_diagonals * len(TEXTS)


def test_a_slow_kernel_is_interrupted_between_rows():
    n_asked = 0

    def slow(x, z):
        nonlocal n_asked
        n_asked += 1
        if n_asked == 500:
            signal.raise_signal(signal.SIGINT)
        return common_pairs(x, z)

    model = SVC(kernel=FunctionKernel(slow, pairwise=True), n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TEXTS, KINDS == 0)
    assert model.status_ == "interrupted"
    assert n_asked < 500 + len(TEXTS)


def test_few_and_many_objects_are_fitted_to_the_same_bits(monkeypatch):
    few = SVC(kernel=Spectrum()).fit(TEXTS, KINDS)
    monkeypatch.setattr("hedgerow.svm._space.FEW_OBJECTS", 0)
    many = SVC(kernel=Spectrum()).fit(TEXTS, KINDS)
    assert np.array_equal(few.dual_coef_, many.dual_coef_)
    assert few.certificate_ == many.certificate_


# -------------------------------------------------------------------------- with scikit-learn


def test_searches_and_folds_take_lists():
    search = GridSearchCV(SVC(kernel=Spectrum()), {"kernel__length": [1, 2], "C": [0.1, 1.0]})
    assert search.fit(TEXTS, KINDS).best_score_ > 0.9
    assert np.min(cross_val_score(SVC(kernel=Spectrum()), TEXTS, KINDS)) > 0.8
    found = cross_val_predict(SVC(kernel=Spectrum()), TEXTS, KINDS)
    judge = cross_val_predict(SVC(kernel="precomputed"), TABLE, KINDS)
    assert np.array_equal(found, judge)


def test_probabilities_of_strings_are_those_of_their_table():
    model = SVC(kernel=Spectrum(), calibrate="sigmoid", tol=1e-8).fit(TEXTS, KINDS)
    judge = SVC(kernel="precomputed", calibrate="sigmoid", tol=1e-8).fit(TABLE, KINDS)
    np.testing.assert_allclose(model.predict_proba(NEW), judge.predict_proba(NEW_TABLE), rtol=1e-5)


def test_a_fit_on_objects_begins_at_the_one_before():
    model = SVC(kernel=Spectrum(), warm_start=True).fit(TEXTS, KINDS)
    n_before = model.n_iter_.sum()
    assert model.fit(TEXTS, KINDS).n_iter_.sum() < n_before


def test_class_weights_are_weights_of_objects():
    model = SVC(kernel=Spectrum(), class_weight={0: 3.0}).fit(TEXTS, KINDS)
    judge = SVC(kernel=Spectrum()).fit(TEXTS, KINDS, np.where(KINDS == 0, 3.0, 1.0))
    assert np.array_equal(model.dual_coef_, judge.dual_coef_)


def test_fewer_support_items_stay():
    model = SVC(kernel=Spectrum()).fit(TEXTS, KINDS)
    small = model.compress(6)
    assert small.support_vectors_ == [TEXTS[i] for i in small.support_]
    assert np.mean(small.predict(NEW) == model.predict(NEW)) > 0.8


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_on_vectors_after_one_on_objects_leaves_nothing_of_it():
    X = np.random.default_rng(0).normal(size=(60, 3))
    for machine in (
        SVC(kernel=Spectrum()),
        KernelPerceptron(kernel=Spectrum(), max_iter=3, tol=None),
    ):
        model = machine.fit(TEXTS, KINDS).set_params(kernel="rbf").fit(X, KINDS)
        assert model.n_features_in_ == 3
        assert model.predict(X).shape == (60,)
        model.set_params(kernel=Spectrum()).fit(TEXTS, KINDS)
        assert not hasattr(model, "n_features_in_")
        assert model.predict(NEW).shape == (30,)


# -------------------------------------------------------------------------------- kept and loaded


@pytest.mark.parametrize(
    "machine",
    [SVC(), SVR(), OneClassSVM(), KernelPerceptron(max_iter=3, tol=None)],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_saved_or_pickled_machine_of_strings_is_the_same_to_the_bit(machine, tmp_path):
    model = machine.set_params(kernel=2 * Spectrum()).fit(TEXTS, KINDS)
    save(model, tmp_path / "m.hedge")
    for again in (load(tmp_path / "m.hedge"), pickle.loads(pickle.dumps(model))):
        assert again.support_vectors_ == model.support_vectors_
        assert np.array_equal(again.predict(NEW), model.predict(NEW))
        assert np.array_equal(answers(again, NEW), answers(model, NEW))


def test_the_command_line_has_no_columns_for_a_model_of_objects(tmp_path):
    save(SVC(kernel=Spectrum()).fit(TEXTS, KINDS), tmp_path / "m.hedge")
    with pytest.raises(ParameterError, match="SVC that was fitted on objects"):
        load_model(str(tmp_path / "m.hedge"))


@pytest.mark.parametrize("form", [list, tuple, np.array], ids=["lists", "tuples", "arrays"])
def test_sequences_of_numbers_are_saved(form, tmp_path):
    rows = [form(sequence) for sequence in SEQUENCES]
    model = SVC(kernel=Alignment()).fit(rows, np.arange(24) % 2)
    save(model, tmp_path / "m.hedge")
    again = load(tmp_path / "m.hedge")
    assert {type(item) for item in again.support_vectors_} == {type(rows[0])}
    assert np.array_equal(again.decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize(
    "kernel",
    [common_pairs_of_blocks, FunctionKernel(common_pairs, pairwise=True)],
    ids=["blocks", "pairs"],
)
@pytest.mark.parametrize("machine", [SVC(), KernelPerceptron(max_iter=3, tol=None)], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_function_is_refused_by_name_when_its_machine_is_saved(machine, kernel, tmp_path):
    model = machine.set_params(kernel=kernel).fit(TEXTS, KINDS)
    name = getattr(kernel, "function", kernel).__name__
    with pytest.raises(ParameterError, match=f"the Python function '{name}'"):
        save(model, tmp_path / "m.hedge")


def test_an_object_that_no_file_holds_is_refused_with_its_place(tmp_path):
    model = SVC(kernel=Spectrum()).fit(TEXTS, KINDS)
    model.support_vectors_[3] = object()
    with pytest.raises(ParameterError, match="an object that is not a string"):
        save(model, tmp_path / "m.hedge")
    model.support_vectors_ = TEXTS[:3]
    with pytest.raises(ParameterError, match="there are 3 support_vectors_"):
        save(model, tmp_path / "m.hedge")
    model = SVC(kernel=Spectrum()).fit(TEXTS, KINDS)
    model.kernel_ = RBF(gamma=1.0)
    with pytest.raises(ParameterError, match="are objects, which RBF does not take"):
        save(model, tmp_path / "m.hedge")


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["ab", "bc", 3], "X holds 3 at row 2, where the kernel needs a string"),
        ([], "X has 0 rows"),
        ("abc", "X is of type str, where a kernel of objects needs a list"),
        (pd.DataFrame({"text": ["a", "b", "c"]}), "X is of type DataFrame"),
        (sp.eye(3), "X is of type sparse matrix"),
        (np.eye(3), r"X holds array\(\[1., 0., 0.\]\) at row 0, where the kernel needs a string"),
        (["ab", "bc"], "X has 2 rows but y has 3 labels"),
    ],
    ids=["kind", "none", "text", "frame", "sparse", "numbers", "too_few"],
)
def test_rows_that_a_kernel_cannot_take_are_refused(rows, sentence):
    with pytest.raises(DataError, match=sentence):
        SVC(kernel=Spectrum()).fit(rows, [0, 1, 1])
    if "labels" not in sentence:
        model = SVC(kernel=Spectrum()).fit(TEXTS, KINDS)
        with pytest.raises(DataError, match=sentence):
            model.predict(rows)
        with pytest.raises(DataError, match=sentence):
            Spectrum()(rows)


def test_a_function_that_fails_is_named_with_the_pair():
    kernel = FunctionKernel(common_pairs, pairwise=True)
    with pytest.raises(DataError, match="the kernel common_pairs cannot compare 'ab' with None"):
        SVC(kernel=kernel).fit(["ab", None, "bc"], [0, 1, 1])
    with pytest.raises(DataError, match="say pairwise=True if it takes two rows"):
        SVC(kernel=FunctionKernel(lambda *_: 1.0)).fit(TEXTS, KINDS)


def test_texts_are_refused_by_kernels_of_vectors():
    with pytest.raises(DataError, match="texts, not vectors of numbers"):
        SVC().fit(TEXTS, KINDS)
    with pytest.raises(DataError, match="has no features to work on where rows are objects"):
        SVC(kernel=Spectrum(), scale="standard").fit(TEXTS, KINDS)
    for other in (RBF(gamma=1.0), Precomputed()):
        with pytest.raises(ParameterError, match="cannot read the same X"):
            SVC(kernel=Spectrum() + other).fit(TEXTS, KINDS)


def test_the_battery_of_kernels_takes_objects():
    check_kernel(Spectrum(), [*TEXTS[:20], TEXTS[0]])
    check_kernel(SpectrumByBlocks(length=1) * Spectrum(), TEXTS[:20])
    check_kernel(FunctionKernel(common_pairs, pairwise=True), np.array(TEXTS[:20], dtype=object))

    class Lopsided(ObjectKernel):
        def value(self, x, z):
            return float(x < z)

    with pytest.raises(AssertionError, match=r"k\(x, z\) is k\(z, x\)"):
        check_kernel(Lopsided(), TEXTS[:20])
    with pytest.raises(NotImplementedError, match="neither value"):
        check_kernel(type("Empty", (ObjectKernel,), {})(), TEXTS[:3])
