"""Scikit-learn's own tests of LinearSVC, LinearSVR and Perceptron, run on ours.

They run twice: on our classes as they are, whose intercept is free, and with the penalised intercept
that scikit-learn's have. What differs by intent is listed, and each listed test must fail in the way
that is stated, so that the list cannot outlive its reasons.
"""

from __future__ import annotations

import inspect
from functools import partial

import pytest

from hedgerow import LinearSVC, LinearSVR, NotCertifiedWarning, Perceptron
from hedgerow.errors import ParameterError
from tests.peers.borrowed import Difference, borrow, path_of, with_differences

# Iris is not separable: our Perceptron says so, and its tests do not ask.
pytestmark = pytest.mark.filterwarnings("ignore:Perceptron did not separate")

FREE = {
    "sklearn.svm.LinearSVC": LinearSVC,
    "sklearn.svm.LinearSVR": LinearSVR,
    "sklearn.linear_model.Perceptron": Perceptron,
}
PENALIZED = FREE | {
    name: partial(FREE[name], intercept="penalized")
    for name in ("sklearn.svm.LinearSVC", "sklearn.svm.LinearSVR")
}
SVM_MODULES = ("svm.tests.test_svm", "svm.tests.test_sparse", "svm.tests.test_bounds")
RUNS = [
    *(("free", module, FREE) for module in (*SVM_MODULES, "linear_model.tests.test_perceptron")),
    *(("penalized", module, PENALIZED) for module in SVM_MODULES),
]

ANY_DUAL = "every solver gives both the primal and the dual solution, so that dual= refuses nothing"
FREE_INTERCEPT = "a free intercept is not held at 0 by the penalty; the penalised run passes"
did_not_raise = partial(Difference, error=pytest.fail.Exception, match="DID NOT RAISE")

DIFFERENCES = {
    "test_svm.test_linearsvc_parameters": [
        Difference(
            "l1 with the hinge is refused in a sentence of ours, which names the losses it goes with",
            AssertionError,
            "Regex pattern did not match",
            where={"penalty": "l1", "loss": "hinge"},
        ),
        did_not_raise(ANY_DUAL, where={"penalty": "l1", "loss": "squared_hinge", "dual": True}),
        did_not_raise(ANY_DUAL, where={"penalty": "l2", "loss": "hinge", "dual": False}),
    ],
    "test_svm.test_linear_svm_convergence_warnings": [
        Difference(
            "our ConvergenceWarning says how far off the solution may be, not what LIBLINEAR says",
            NotCertifiedWarning,
            "Not certified",
        )
    ],
    "test_svm.test_dense_liblinear_intercept_handling": [
        Difference(FREE_INTERCEPT, AssertionError, "almost equal", intercept="free")
    ],
    "test_sparse.test_sparse_liblinear_intercept_handling": [
        Difference(FREE_INTERCEPT, AssertionError, "almost equal", intercept="free")
    ],
    "test_bounds.test_l1_min_c": [
        Difference(
            FREE_INTERCEPT,
            AssertionError,
            None,  # a bare assert
            where={"intercept_label": "fit-intercept", "loss": "squared_hinge"},
            intercept="free",
        )
    ],
    "test_sparse.test_linearsvc_iris": [
        Difference("coef_ is always an array: there is no sparsify()", AttributeError, "sparsify")
    ],
    "test_perceptron.test_perceptron_l1_ratio": [
        Difference(
            "the perceptron's rule has no penalty; LinearSVC has", ParameterError, "elasticnet"
        )
    ],
}


@pytest.fixture
def global_random_seed():
    """The seed that scikit-learn's tests take unless told otherwise."""
    return 42


BORROWED = {}
for _intercept, _module, _classes in RUNS:
    for _name, _test in borrow(_module, _classes).items():
        _place = f"{_module.rpartition('.')[2]}.{_name}"
        _listed = [d for d in DIFFERENCES.get(_place, []) if d.intercept in (None, _intercept)]
        BORROWED[_place] = _test
        globals()[f"{_place.replace('.', '_')}_{_intercept}"] = with_differences(_test, _listed)


@pytest.mark.parametrize("module", sorted({module for _, module, _ in RUNS}))
def test_scikit_learn_is_installed_with_its_tests(module):
    assert path_of(module).exists(), f"{path_of(module)} is not there, so that it was not run"
    assert any(place.startswith(module.rpartition(".")[2]) for place in BORROWED)


def test_the_tests_that_matter_are_among_those_that_run():
    wanted = {
        "test_svm.test_linearsvc",
        "test_svm.test_linearsvc_crammer_singer",
        "test_svm.test_crammer_singer_binary",
        "test_svm.test_linearsvr",
        "test_svm.test_linearsvm_liblinear_sample_weight",
        "test_sparse.test_linearsvc",
        "test_bounds.test_l1_min_c",
        "test_perceptron.test_perceptron_correctness",
    }
    assert wanted <= set(BORROWED)


@pytest.mark.parametrize("place", DIFFERENCES)
def test_a_listed_difference_is_about_a_test_that_runs(place):
    parameters = inspect.signature(BORROWED[place]).parameters
    for difference in DIFFERENCES[place]:
        assert set(difference.where) <= set(parameters)
