"""Kernels: their formulas, what they are made of and what they refuse."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import pairwise

import hedgerow
from hedgerow._base.state.declare import _by_class
from hedgerow.errors import DataError, ParameterError
from hedgerow.kernels import (
    KERNELS,
    RBF,
    AdditiveChiSquared,
    ChiSquared,
    CoreForm,
    Cosine,
    FunctionKernel,
    HistogramIntersection,
    Kernel,
    KernelProduct,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    RowsKernel,
    ScaledKernel,
    Sigmoid,
    Wavelet,
    as_kernel,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(300, 7)) * (RNG.random((300, 7)) < 0.6)
Y = RNG.uniform(size=(40, 7)) * (RNG.random((40, 7)) < 0.6)
X[5] = 0.0

JUDGED = [
    (Linear(), pairwise.linear_kernel, {}),
    (Polynomial(degree=3, gamma=0.3, coef0=1.5), pairwise.polynomial_kernel, None),
    (RBF(gamma=0.7), pairwise.rbf_kernel, None),
    (Sigmoid(gamma=0.4, coef0=-0.2), pairwise.sigmoid_kernel, None),
    (Laplacian(gamma=0.6), pairwise.laplacian_kernel, None),
    (Cosine(), pairwise.cosine_similarity, {}),
    (ChiSquared(gamma=0.5), pairwise.chi2_kernel, None),
    (AdditiveChiSquared(), pairwise.additive_chi2_kernel, {}),
]
EVERY = [kernel for kernel, _, _ in JUDGED] + [HistogramIntersection(), Wavelet(dilation=0.8)]
COMBINED = [
    RBF(gamma=0.7) + 2 * Linear(),
    RBF(gamma=0.7) * Polynomial(degree=2, gamma=1.0, coef0=1.0),
    3 * (Laplacian(gamma=0.2) + HistogramIntersection()) * Wavelet(),
]
ROUNDING = {"rtol": 1e-12, "atol": 1e-13}
"""Sums of seven products of numbers below 1, in another order."""


@pytest.mark.parametrize(
    ("kernel", "judge", "parameters"), JUDGED, ids=[judge.__name__ for _, judge, _ in JUDGED]
)
def test_a_kernel_of_scikit_learns_has_its_values(kernel, judge, parameters):
    parameters = kernel.get_params() if parameters is None else parameters
    parameters.pop("sigma", None)
    np.testing.assert_allclose(kernel(X, Y), judge(X, Y, **parameters), **ROUNDING)
    np.testing.assert_allclose(kernel(X), judge(X, **parameters), **ROUNDING)


def test_the_intersection_is_the_sum_of_the_smaller_features():
    expected = [[sum(map(min, x, y)) for y in Y] for x in X]
    np.testing.assert_allclose(HistogramIntersection()(X, Y), expected, **ROUNDING)


def test_the_wavelet_is_a_product_over_the_features():
    def h(u):
        return math.cos(1.75 * u) * math.exp(-u * u / 2)

    expected = [
        [math.prod(h((a - b) / 0.8) for a, b in zip(x, y, strict=True)) for y in Y] for x in X
    ]
    np.testing.assert_allclose(Wavelet(dilation=0.8)(X, Y), expected, **ROUNDING)


def test_sigma_is_the_width_of_the_gaussian():
    kernel = RBF(sigma=2.0)
    assert kernel([[0.0, 0.0]], [[2.0, 0.0]])[0, 0] == pytest.approx(math.exp(-0.5), rel=1e-15)
    assert kernel.core_form() == CoreForm("rbf", {"gamma": 0.125})


def test_the_map_behind_the_kernel_of_degree_two_has_its_dot_products():
    points = RNG.normal(size=(20, 2))
    x1, x2 = points.T
    mapped = np.column_stack([x1**2, x2**2, math.sqrt(2) * x1 * x2])
    kernel = Polynomial(degree=2, gamma=1.0)
    np.testing.assert_allclose(kernel(points), Linear()(mapped), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kernel", EVERY + COMBINED, ids=repr)
def test_sparse_rows_and_single_precision_give_the_values_of_the_same_numbers(kernel):
    single = X.astype(np.float32)
    expected = kernel(single.astype(np.float64), Y)
    for rows in (single, sp.csr_array(single), sp.csr_matrix(single), sp.csc_array(single)):
        for others in (Y, sp.csr_array(Y)):
            found = kernel(rows, others)
            assert found.dtype == np.float64
            assert isinstance(found, np.ndarray)
            np.testing.assert_allclose(found, expected, **ROUNDING)
        np.testing.assert_allclose(kernel.diagonal(rows), kernel(single).diagonal(), **ROUNDING)
        np.testing.assert_allclose(
            kernel.rows(rows, [7, 5, 299]), kernel(single)[[7, 5, 299]], **ROUNDING
        )


@pytest.mark.parametrize("kernel", [RBF(gamma=1.0), Laplacian(gamma=1.0), Wavelet()], ids=repr)
def test_rows_far_from_the_origin_lose_no_digits(kernel):
    far = X + 2.0**20  # a shift that float64 takes off again exactly, but for the last bits of X
    near = far - 2.0**20
    np.testing.assert_allclose(kernel(far), kernel(near), rtol=1e-12)
    assert np.array_equal(kernel(far).diagonal(), np.ones(len(X)))


def test_rows_that_are_all_zero_have_no_columns_in_common():
    nothing = sp.csr_array((3, 5))
    assert np.array_equal(Laplacian(gamma=1.0)(nothing), np.ones((3, 3)))
    assert np.array_equal(Cosine()(nothing), np.zeros((3, 3)))


# ----------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    "rows", [X, sp.csr_array(X), X.astype(np.float32)], ids=["dense", "csr", "float32"]
)
@pytest.mark.parametrize("cls", [RBF, Polynomial, Sigmoid, Laplacian, ChiSquared])
def test_gamma_by_name_is_the_number_of_scikit_learn_in_a_new_object(cls, rows):
    before = cls(gamma="scale")
    after = before.resolved(rows)
    assert before.gamma == "scale"
    assert after.gamma == pytest.approx(1.0 / (7 * X.var()), rel=1e-6)  # float32 keeps 7 digits
    assert cls(gamma="auto").resolved(rows).gamma == 1.0 / 7.0
    assert cls(gamma=0.25).resolved(rows) == cls(gamma=0.25)


def test_gamma_goes_into_sums_products_and_multiples():
    kernel = 2 * (RBF() + Linear() * Polynomial(gamma="auto"))
    found = kernel.resolved(X)
    assert found.kernel.left.gamma == RBF().resolved(X).gamma
    assert found.kernel.right.right.gamma == 1.0 / 7.0
    assert kernel.kernel.left.gamma == "scale"


def test_a_gamma_that_no_rows_have_settled_is_refused():
    with pytest.raises(ParameterError, match=r"gamma='scale' of RBF .* take kernel.resolved\(X\)"):
        RBF()(X)


def test_a_width_given_twice_is_refused():
    with pytest.raises(ParameterError, match=r"gamma=1.0 and sigma=2.0 of RBF .* give one"):
        RBF(gamma=1.0, sigma=2.0)(X)


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (RBF(gamma=-1.0), "gamma=-1.0 is not allowed in RBF"),
        (RBF(gamma="wide"), "gamma='wide' is not allowed in RBF"),
        (RBF(sigma=0.0), "sigma=0.0 is not allowed in RBF"),
        (Polynomial(degree=1.5), "degree=1.5 is not allowed in Polynomial"),
        (Sigmoid(coef0=math.inf), "coef0=inf is not allowed in Sigmoid"),
        (Wavelet(dilation=0), "dilation=0 is not allowed in Wavelet"),
        (-1 * Linear(), "factor=-1.0 is not allowed in ScaledKernel"),
        (KernelProduct(Linear(), "rbf"), "right='rbf' is not allowed in KernelProduct"),
        (FunctionKernel(3), "function=3 is not allowed in FunctionKernel"),
        (RowsKernel(3), "source=3 is not allowed in RowsKernel"),
    ],
    ids=repr,
)
def test_a_wrong_parameter_is_refused_by_name(kernel, sentence):
    for use in (kernel, kernel.resolved):
        with pytest.raises(ParameterError, match=sentence):
            use(X)


@pytest.mark.parametrize("cls", [ChiSquared, AdditiveChiSquared, HistogramIntersection])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_a_negative_feature_is_refused_with_its_row_and_column(cls, container):
    bad = X.copy()
    bad[3, 2] = -1.5
    with pytest.raises(
        DataError, match=f"X holds -1.5 at row 3, column 2, and {cls.__name__} is for"
    ):
        cls()(container(bad))


def test_bad_rows_are_refused():
    with pytest.raises(DataError, match="X has 7 features and Y has 3"):
        Linear()(X, Y[:, :3])
    with pytest.raises(DataError, match="NaN at row 0"):
        Linear().diagonal([[math.nan]])


# ------------------------------------------------------------------------- as estimators


@pytest.mark.parametrize("kernel", EVERY + COMBINED + [Precomputed()], ids=repr)
def test_a_kernel_is_equal_to_its_clone_and_to_what_its_repr_says(kernel):
    assert clone(kernel) == kernel
    assert clone(kernel) is not kernel
    assert eval(repr(kernel), vars(hedgerow.kernels)) == kernel
    assert kernel != Linear() * Linear()


def test_nested_parameters_can_be_set():
    kernel = RBF(gamma=1.0) + 2 * Linear()
    kernel.set_params(left__gamma=0.5, right__factor=3.0)
    assert kernel == RBF(gamma=0.5) + 3 * Linear()
    with pytest.raises(TypeError, match="unhashable"):
        hash(kernel)


def test_numbers_of_numpy_scale_a_kernel_from_both_sides():
    assert np.float64(2.0) * Linear() == Linear() * np.int64(2) == ScaledKernel(Linear(), 2.0)
    for wrong in ("2", None, np.ones(2)):
        with pytest.raises(TypeError):
            wrong * Linear()
    with pytest.raises(TypeError):
        Linear() + 1.0


STORED = [*EVERY, *COMBINED, 2 * Linear(), Precomputed(), RBF(sigma=2.0), FunctionKernel(Linear())]


def test_every_kernel_that_can_be_stored_is_among_those_below():
    declared = {cls for cls in _by_class if issubclass(cls, Kernel)}
    ours = {cls for cls in declared if cls.__module__.startswith("hedgerow.")}
    assert {type(kernel) for kernel in STORED} == ours
    for needs_code in (FunctionKernel(pairwise.linear_kernel), RowsKernel(Lengths())):
        with pytest.raises(ParameterError, match="cannot be saved"):
            hedgerow.save(needs_code, "nowhere.hedge")


@pytest.mark.parametrize("kernel", STORED, ids=repr)
def test_a_saved_kernel_is_loaded_equal(kernel, tmp_path):
    hedgerow.save(kernel, tmp_path / "kernel.hedge")
    assert hedgerow.load(tmp_path / "kernel.hedge") == kernel


def test_a_kernel_is_loaded_by_a_process_that_has_not_seen_it(tmp_path):
    file = tmp_path / "kernel.hedge"
    hedgerow.save(RBF(gamma=0.5) + Linear(), file)
    code = f"import hedgerow; print(hedgerow.load({str(file)!r}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["KernelSum(left=RBF(gamma=0.5),", "right=Linear())"]


def test_a_file_cannot_bring_a_wrong_parameter(tmp_path):
    with pytest.raises(ParameterError, match="gamma=-1"):
        hedgerow.save(RBF(gamma=-1.0), tmp_path / "kernel.hedge")


def test_what_the_core_is_told():
    assert Linear().core_form() == CoreForm("linear")
    assert Polynomial(degree=2, gamma=0.5, coef0=1).core_form() == CoreForm(
        "polynomial", {"gamma": 0.5, "coef0": 1.0, "degree": 2.0}
    )
    tree = (2 * RBF(gamma=1.0) + Linear() * Cosine()).core_form()
    assert tree.name == "sum"
    assert tree.parts[0] == CoreForm("scaled", {"factor": 2.0}, (CoreForm("rbf", {"gamma": 1.0}),))
    assert tree.parts[1] == CoreForm("product", {}, (CoreForm("linear"), CoreForm("cosine")))
    assert (Linear() + FunctionKernel(pairwise.linear_kernel)).core_form() is None
    assert (2 * FunctionKernel(pairwise.linear_kernel)).core_form() is None


def test_indefinite_kernels_say_so():
    indefinite = {repr(k) for k in EVERY + COMBINED if not k.is_positive_semidefinite}
    assert indefinite == {repr(Sigmoid(gamma=0.4, coef0=-0.2)), repr(AdditiveChiSquared())}
    assert not Polynomial(coef0=-1.0).is_positive_semidefinite
    assert not (Linear() + Sigmoid()).is_positive_semidefinite
    assert not (2 * Sigmoid()).is_positive_semidefinite
    assert not FunctionKernel(pairwise.sigmoid_kernel, indefinite=True).is_positive_semidefinite


def test_sums_and_multiples_of_conditionally_positive_kernels_are_so_and_products_are_not():
    chi = AdditiveChiSquared()
    for kernel in (chi, 2 * chi, chi + RBF(), 3 * (chi + chi) + Linear(), RBF()):
        assert kernel.is_conditionally_positive_semidefinite
    for kernel in (Sigmoid(), chi * RBF(), chi * chi, chi + Sigmoid()):
        assert not kernel.is_conditionally_positive_semidefinite


# ------------------------------------------------------------------- by name, and given


@pytest.mark.parametrize(
    "name", sorted(set(KERNELS) - {"histogram_intersection", "wavelet", "precomputed"})
)
def test_a_name_means_what_it_means_to_scikit_learn(name):
    numbers = {"gamma": 0.3, "degree": 2, "coef0": 0.5}
    expected = pairwise.pairwise_kernels(X, Y, metric=name, filter_params=True, **numbers)
    np.testing.assert_allclose(as_kernel(name, **numbers)(X, Y), expected, **ROUNDING)


@pytest.mark.parametrize("wrong", ["gauss", 3, None])
def test_what_is_no_kernel_is_refused(wrong):
    with pytest.raises(ParameterError, match=f"kernel={wrong!r} is no kernel: it must be"):
        as_kernel(wrong)


class Lengths:
    """A source of rows on texts: how many characters both have."""

    def __init__(self):
        self.n_asked = []

    def rows(self, X, indices):
        self.n_asked.append(len(indices))
        sizes = np.array([len(x) for x in X])
        return np.minimum(sizes[indices][:, None], sizes)


TEXTS = ["hedge", "row", "hedgerow", "a"]


def test_an_object_with_rows_is_a_kernel_of_old_and_new_rows():
    kernel = as_kernel(Lengths())
    assert kernel(TEXTS).tolist() == [[5, 3, 5, 1], [3, 3, 3, 1], [5, 3, 8, 1], [1, 1, 1, 1]]
    assert kernel(["hi"], TEXTS).tolist() == [[2, 2, 2, 1]]
    assert kernel.diagonal(TEXTS).tolist() == [5, 3, 8, 1]
    assert kernel.rows(TEXTS, [2, 0]).tolist() == [[5, 3, 8, 1], [5, 3, 5, 1]]
    for rows in (X, sp.csr_array(X)):
        table = RowsKernel(Linear())(rows[:5], rows[5:9])
        np.testing.assert_allclose(table, Linear()(X[:5], X[5:9]), **ROUNDING)
    assert np.array_equal(RowsKernel(Linear()).diagonal(X), Linear().diagonal(X))


def test_what_is_given_is_not_written_to():
    table = X @ X.T
    before = table.copy()

    class Kept:
        def rows(self, _, indices):
            return table[indices]

        def diagonal(self, _):
            return table.diagonal()

    for given in (Precomputed(), RowsKernel(Kept())):
        kernel = given + given * given
        kernel(table)
        kernel.diagonal(table)
        kernel.rows(table, np.arange(300))
        assert np.array_equal(table, before)


def test_a_function_is_never_asked_for_the_whole_table(monkeypatch):
    monkeypatch.setattr("hedgerow.kernels.objects._VALUES", 3000)
    asked = []

    def function(A, B):
        asked.append((len(A), len(B)))
        return pairwise.linear_kernel(A, B)

    kernel = as_kernel(function)
    np.testing.assert_allclose(kernel(X), X @ X.T, **ROUNDING)
    np.testing.assert_allclose(kernel.rows(X, np.arange(299, -1, -1)), X[::-1] @ X.T, **ROUNDING)
    np.testing.assert_allclose(kernel.diagonal(X), np.sum(X * X, axis=1), **ROUNDING)
    assert max(n * m for n, m in asked) <= 3000
    source = Lengths()
    RowsKernel(source).diagonal(["x"] * 100)
    assert max(source.n_asked) == 30


def test_a_function_that_returns_another_shape_is_refused():
    with pytest.raises(DataError, match=r"returned shape \(300,\) for blocks of 300 and 40 rows"):
        FunctionKernel(lambda A, _: np.ones(len(A)))(X, Y)


def test_a_precomputed_table_is_taken_as_it_is():
    table = X @ X.T
    kernel = Precomputed()
    assert np.array_equal(kernel(table), table)
    assert np.array_equal(kernel(table[:4], X), table[:4])
    assert np.array_equal(kernel(sp.csr_array(table)), table)
    assert np.array_equal(kernel.diagonal(table), table.diagonal())
    assert np.array_equal(kernel.rows(table, [3, 1]), table[[3, 1]])
    with pytest.raises(
        DataError, match=r"has shape \(4, 300\), and for these rows it needs 4 columns"
    ):
        kernel(table[:4])
    with pytest.raises(DataError, match=r"has shape \(300, 7\), and for these rows it needs 300"):
        kernel.rows(X, [3, 1])


@pytest.mark.parametrize(
    "kernel",
    [
        Precomputed() + Linear(),
        RBF(gamma=1.0) * (2 * Precomputed()),
        FunctionKernel(max) + Precomputed(),
    ],
    ids=["sum", "product", "function"],
)
def test_a_table_and_rows_are_not_read_from_one_matrix(kernel, tmp_path):
    assert kernel.is_precomputed
    for use in (kernel, kernel.diagonal, kernel.resolved, lambda table: kernel.rows(table, [0])):
        with pytest.raises(ParameterError, match="takes a table of kernel values and"):
            use(X @ X.T)
    with pytest.raises(ParameterError, match="cannot be saved"):
        hedgerow.save(kernel, tmp_path / "kernel.hedge")


def test_multiples_and_sums_of_tables_are_tables():
    table = X @ X.T
    kernel = 2 * Precomputed() + Precomputed()
    assert kernel.is_precomputed
    assert np.array_equal(kernel(table), 3 * table)
    assert not (2 * Linear() + RBF()).is_precomputed
