"""Scikit-learn's own tests of LinearSVC, LinearSVR and Perceptron, run on ours.

They run twice: on our classes as they are, whose intercept is free, and with the penalised intercept
that scikit-learn's have. What differs by intent is listed, and each listed test must fail in the way
that is stated, so that the list cannot outlive its reasons.
"""

from __future__ import annotations

import inspect
from functools import partial

import pytest
from sklearn.datasets import make_blobs

from hedgerow import (
    SVC,
    SVR,
    LinearSVC,
    LinearSVR,
    NotCertifiedWarning,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
)
from hedgerow.errors import DataError, ParameterError
from tests.peers.borrowed import Difference, borrow, path_of, with_differences

# Iris is not separable: our Perceptron says so, and its tests do not ask.
pytestmark = pytest.mark.filterwarnings("ignore:Perceptron did not separate")

FREE = {
    "sklearn.svm.LinearSVC": LinearSVC,
    "sklearn.svm.LinearSVR": LinearSVR,
    "sklearn.linear_model.Perceptron": Perceptron,
}
KERNEL = {f"sklearn.svm.{cls.__name__}": cls for cls in (SVC, NuSVC, SVR, NuSVR, OneClassSVM)}
PENALIZED = (
    FREE
    | KERNEL
    | {
        name: partial(FREE[name], intercept="penalized")
        for name in ("sklearn.svm.LinearSVC", "sklearn.svm.LinearSVR")
    }
)
SVM_MODULES = ("svm.tests.test_svm", "svm.tests.test_sparse", "svm.tests.test_bounds")
RUNS = [
    *(("free", module, FREE) for module in (*SVM_MODULES, "linear_model.tests.test_perceptron")),
    *(("penalized", module, PENALIZED) for module in SVM_MODULES),
]

ANY_DUAL = "every solver gives both the primal and the dual solution, so that dual= refuses nothing"
FREE_INTERCEPT = "a free intercept is not held at 0 by the penalty; the penalised run passes"
did_not_raise = partial(Difference, error=pytest.fail.Exception, match="DID NOT RAISE")

NEGATIVE = "a negative sample_weight is refused: it would not do what it says"
PRIVATE = "the test looks at an attribute of scikit-learn's own"
SPARSE_WELCOME = "what was fitted on dense rows predicts sparse ones too"
SOONER = "the few rows are solved within so many steps"
SIGMOID = "probability=True is calibrate='sigmoid', and is no more than that"
ALWAYS_BROKEN = "ties of votes are always broken by scores"
differs = partial(Difference, error=AssertionError, match="Regex pattern did not match")

KERNEL_DIFFERENCES = {
    "test_svm.test_svr_errors": [
        Difference("a wrong shape is told in a sentence of ours", DataError, "returned shape")
    ],
    "test_svm.test_tweak_params": [Difference(PRIVATE, AssertionError, "not equal")],
    "test_svm.test_bad_input": [did_not_raise(SPARSE_WELCOME, intercept="penalized")],
    "test_svm.test_svc_nonfinite_params": [differs("gamma='scale' tells first that it overflows")],
    "test_svm.test_sparse_precomputed": [did_not_raise("a table may be sparse")],
    "test_svm.test_libsvm_convergence_warnings": [
        Difference(SOONER, pytest.fail.Exception, "DID NOT WARN")
    ],
    "test_sparse.test_timeout": [Difference(SOONER, pytest.fail.Exception, "DID NOT WARN")],
    "test_svm.test_consistent_decision_function": [
        Difference("a fit that is cut short warns", NotCertifiedWarning, "Not certified")
    ],
    "test_svm.test_n_iter_libsvm": [
        Difference(
            "what nu leaves of two of the classes meets, and there is no plane: we tell",
            NotCertifiedWarning,
            "the margin rho is 0",
            where={"estimator": NuSVC, "n_classes": 4},
        )
    ],
    "test_svm.test_hasattr_predict_proba": [differs(SIGMOID)],
    "test_svm.test_probability_raises_futurewarning": [
        Difference(SIGMOID, pytest.fail.Exception, "DID NOT WARN")
    ],
    "test_svm.test_svc_nusvc_probA_probB_deprecated": [
        Difference(SIGMOID, pytest.fail.Exception, "DID NOT WARN")
    ],
    "test_svm.test_svc_invalid_break_ties_param": [differs(ALWAYS_BROKEN)],
    "test_svm.test_svc_ovr_tie_breaking": [Difference(ALWAYS_BROKEN, AssertionError, None)],
    "test_svm.test_gamma_scale": [Difference(PRIVATE, AttributeError, "_gamma")],
    "test_svm.test_custom_kernel_not_array_input": [
        Difference("the function is asked for blocks, and fills only square ones", IndexError, None)
    ],
    "test_svm.test_svc_raises_error_internal_representation": [
        Difference(PRIVATE, AttributeError, "_n_support")
    ],
    "test_svm.test_svm_with_infinite_C": [
        Difference(
            "a tube that nothing may leave is no regression",
            ParameterError,
            "C=inf",
            where={"Estimator": SVR},
        )
    ],
    "test_svm.test_negative_sample_weights_mask_all_samples": [differs(NEGATIVE)],
    "test_svm.test_negative_weights_svc_leave_just_one_label": [differs(NEGATIVE)],
    "test_svm.test_negative_weights_svc_leave_two_labels": [
        Difference(NEGATIVE, DataError, "not negative", where={"mask_side": "when-left"})
    ],
    "test_svm.test_negative_weight_equal_coeffs": [
        Difference(
            NEGATIVE, DataError, "not negative", where={"sample_weight": [1, -0.5, 1, 1, 1, 1]}
        )
    ],
    "test_sparse.test_svc": [
        Difference(
            "a class of one row gives no score of a row left out, and so no probability",
            DataError,
            "single row",
            where={"y_train": [1, 2, 2, 2, 3]},
        )
    ],
    "test_sparse.test_sparse_oneclasssvm": [
        Difference(
            "among rows around the origin w is 0 but for rounding, and so are all scores",
            AssertionError,
            "Not equal",
            where={
                "kernel": "linear",
                "X_train": make_blobs(100, centers=10, random_state=0)[0][:80],
            },
            is_by_rounding=True,
        )
    ],
}

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
    **KERNEL_DIFFERENCES,
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
