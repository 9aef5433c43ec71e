"""What a model holds is what its class declares, or it is neither dumped nor loaded."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import hedgerow
from hedgerow._base.state import StateError, dump_state, load_state
from hedgerow._base.state.declare import _by_class
from tests.models.write import MODELS

CERTIFICATE = hedgerow.Certificate(1.0, 1.0, 0.0, "relative_gap", 1e-4, "optimal")


def fitted(name):
    return MODELS[name]()[0]


def refusal(model):
    with pytest.raises(StateError) as caught:
        dump_state(model)
    return str(caught.value)


def test_every_declared_class_that_can_be_fitted_has_a_model_here():
    for name in hedgerow.__all__:
        getattr(hedgerow, name)
    ours = [cls for cls in _by_class if cls.__module__.startswith("hedgerow.")]
    public = {cls.__name__ for cls in ours if hasattr(cls, "fit")}
    assert public == {name.split("-")[0] for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_what_a_fit_leaves_meets_its_own_declaration(name):
    model = fitted(name)
    again = load_state(*dump_state(model))
    assert dump_state(again)[0] == dump_state(model)[0]
    clone(model)


MACHINES = ("SVC", "SVC-three", "SVC-rest", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD")
PLANES = ("LinearSVC", "LinearSVC-three", "Perceptron", "AveragedPerceptron")
WRONG = [
    *((name, "coef_", lambda m: m.coef_[:, :1]) for name in PLANES),
    *((name, "coef_", lambda m: m.coef_.astype(np.float32)) for name in PLANES),
    *((name, "coef_", lambda m: m.coef_.ravel()) for name in PLANES),
    *((name, "coef_", lambda m: m.coef_ * np.nan) for name in PLANES),
    *((name, "coef_", lambda m: m.coef_.tolist()) for name in PLANES),
    *((name, "coef_", lambda m: sp.csr_array(m.coef_[:, :1])) for name in PLANES),
    *((name, "coef_", lambda m: sp.csr_array(m.coef_.astype(np.float32))) for name in PLANES),
    *((name, "coef_", lambda m: sp.csr_array(m.coef_ * np.nan)) for name in PLANES),
    *((name, "coef_", lambda m: sp.csc_array(m.coef_)) for name in PLANES),
    *((name, "intercept_", lambda m: np.append(m.intercept_, 0.0)) for name in PLANES),
    *((name, "intercept_", lambda m: m.intercept_ + np.inf) for name in PLANES),
    *((name, "classes_", lambda m: m.classes_[::-1]) for name in PLANES),
    *((name, "classes_", lambda m: m.classes_[:1]) for name in PLANES),
    *((name, "classes_", lambda m: np.append(m.classes_, m.classes_[-1:])) for name in PLANES),
    *((name, "classes_", np.arange(4)) for name in PLANES),
    *((name, "classes_", np.array([0.0, np.nan])) for name in PLANES),
    *((name, "n_features_in_", 7) for name in MODELS),
    *((name, "n_features_in_", True) for name in MODELS),
    *((name, "feature_names_in_", np.array(["x"] * 9, dtype=object)) for name in MODELS),
    *((name, "n_iter_", -1) for name in (*PLANES, "VotedPerceptron", "KernelPerceptron")),
    *((name, "status_", 3) for name in PLANES),
    *((name, "status_", "x" * 1000) for name in PLANES),
    ("LinearSVC", "alpha_", lambda m: -m.alpha_ - 1),
    ("LinearSVC", "at_bound_", lambda m: m.at_bound_.astype(np.uint8)),
    ("LinearSVR", "at_bound_", lambda m: m.at_bound_[1:]),
    ("LinearSVR", "coef_", lambda m: m.coef_[None, :]),
    ("LinearOneClassSVM", "offset_", lambda m: np.append(m.offset_, 1.0)),
    ("LinearOneClassSVM", "alpha_", lambda m: -m.alpha_),
    ("LinearSVC-three", "alpha_", lambda m: m.alpha_[:2]),
    ("LinearSVC", "certificate_", None),
    ("LinearSVC-three", "certificates_", lambda m: m.certificates_[:2]),
    ("LinearSVC-three", "certificates_", lambda m: list(m.certificates_)),
    ("LinearSVC-three", "certificates_", lambda m: (*m.certificates_[:2], "x")),
    ("Perceptron", "t_", 0),
    ("Perceptron", "error_", float("nan")),
    ("Perceptron", "error_history_", lambda m: m.error_history_[None]),
    ("VotedPerceptron", "mistakes_", lambda m: [m.mistakes_[0] + 1000]),
    ("VotedPerceptron", "mistakes_", lambda m: [-1 - m.mistakes_[0]]),
    ("VotedPerceptron", "mistakes_", lambda m: [m.mistakes_[0][:-1]]),
    ("VotedPerceptron", "mistakes_", lambda m: [m.mistakes_[0].astype(float)]),
    ("VotedPerceptron", "mistakes_", lambda m: m.mistakes_ * 2),
    ("VotedPerceptron", "survivals_", lambda m: [m.survivals_[0] * 0]),
    ("VotedPerceptron", "support_vectors_", lambda m: m.support_vectors_[:-1]),
    ("VotedPerceptron", "support_vectors_", lambda m: sp.csr_array(m.support_vectors_ * np.nan)),
    ("VotedPerceptron", "support_vectors_", lambda m: sp.csc_array(m.support_vectors_)[:, :1]),
    ("VotedPerceptron", "steps_", lambda m: m.steps_[:, :-1]),
    ("KernelPerceptron", "support_", lambda m: m.support_ - 100),
    ("KernelPerceptron", "support_vectors_", lambda m: m.support_vectors_[:, :1]),
    ("KernelPerceptron", "dual_coef_", lambda m: m.dual_coef_[:-1]),
    ("KernelPerceptron", "gamma_", -1.0),
    ("KernelPerceptron", "gamma_", "scale"),
    *((name, "dual_coef_", lambda m: m.dual_coef_[:, :-1]) for name in MACHINES),
    *((name, "dual_coef_", lambda m: m.dual_coef_ * np.nan) for name in MACHINES),
    *((name, "support_", lambda m: m.support_.astype(float)) for name in MACHINES),
    *((name, "support_vectors_", lambda m: m.support_vectors_[:, :1]) for name in MACHINES),
    *((name, "kernel_", "rbf") for name in MACHINES),
    *((name, "certificate_", None) for name in MACHINES),
    *((name, "n_iter_", -1) for name in MACHINES),
    ("SVC", "scaling_", None),
    ("SVC-three", "certificates_", lambda m: m.certificates_[:2]),
    ("SVC-three", "class_weight_", lambda m: -m.class_weight_),
    ("SVC-three", "n_support_", lambda m: m.n_support_[:2]),
    ("SVC-sigmoid", "probability_maps_", ("x",)),
    ("NuSVR", "epsilon_", -0.5),
    ("SVDD", "radius_", -1.0),
    ("SVDD", "sq_norm_", float("nan")),
    ("TableEncoder", "is_text_", lambda m: ~m.is_text_ | True),
    ("TableEncoder", "is_text_", lambda m: m.is_text_.astype(int)),
    ("TableEncoder", "fill_", lambda m: m.fill_[:-1]),
    ("TableEncoder", "spread_", lambda m: m.spread_ * 0),
    ("TableEncoder", "center_", lambda m: m.center_ * np.nan),
    ("TableEncoder", "categories_", lambda m: m.categories_ * 2),
    ("TableEncoder", "categories_", [np.arange(3)]),
    ("TableEncoder", "scaling_", "log"),
    ("TableEncoder", "sparse_output_", 1),
    ("TableClassifier", "encoder_", lambda m: m.learner_),
    ("TableClassifier", "encoder_", lambda m: clone(m.encoder_)),
    ("TableClassifier", "learner_", None),
    ("TableClassifier", "learner_", lambda m: clone(m.learner_)),
    ("TableClassifier", "learner_", hedgerow.LinearSVC().fit(np.eye(2), [0, 1])),
    ("TableClassifier", "classes_", np.arange(3)),
    ("TableClassifier", "target_", [1]),
]


@pytest.mark.parametrize(
    ("name", "attribute", "change"),
    WRONG,
    ids=[f"{n}.{a}-{i}" for i, (n, a, _) in enumerate(WRONG)],
)
def test_an_attribute_that_is_not_what_it_must_be_is_refused_by_its_name(name, attribute, change):
    model = fitted(name)
    setattr(model, attribute, change(model) if callable(change) else change)
    message = refusal(model)
    assert message.startswith("model.")
    assert " must be " in message


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_lacks_an_attribute_is_refused(name):
    model = fitted(name)
    for attribute, rule in _by_class[type(model)].parts.items():
        if getattr(rule, "is_optional", False):
            continue
        lame = load_state(*dump_state(model))
        delattr(lame, attribute)
        assert f"lacks {attribute}" in refusal(lame)


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("LinearSVC", "C", -1.0),
        ("LinearSVC", "n_jobs", "x"),
        ("LinearSVC", "n_jobs", 0),
        ("LinearSVC", "random_state", -1),
        ("LinearSVC", "random_state", "now"),
        ("LinearSVC", "reg_lambda", 0.0),
        ("LinearSVC", "loss", "hinged"),
        ("Perceptron", "start", 3),
        ("AveragedPerceptron", "eta0", 0.0),
        ("VotedPerceptron", "fit_intercept", "yes"),
        ("KernelPerceptron", "kernel", "magic"),
        ("KernelPerceptron", "degree", 0),
        ("SVC", "multi_class", "all"),
        ("SVC", "cache_size", 0),
        ("SVC", "max_iter", 0),
        ("NuSVC", "nu", 1.5),
        ("SVR", "C", 0.0),
        ("SVDD", "scale", "log"),
        ("TableEncoder", "scale", "log"),
        ("TableClassifier", "learner", 3),
    ],
)
def test_a_parameter_that_breaks_its_rule_is_refused(name, parameter, value):
    model = fitted(name).set_params(**{parameter: value})
    assert f"{parameter}={value!r} is not allowed" in refusal(model)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("primal", "1"),
        ("kkt_violation", None),
        ("criterion", "__class__"),
        ("tolerance", -1.0),
        ("status", None),
    ],
)
def test_a_record_whose_field_breaks_its_rule_is_refused(field, value):
    state, arrays = dump_state(CERTIFICATE)
    assert load_state(state, arrays) == CERTIFICATE
    state["fields"][field] = value
    with pytest.raises(StateError, match=f"model.{field} is .* must be"):
        load_state(state, arrays)


def test_a_message_names_the_part_what_it_is_and_what_it_must_be():
    model = fitted("LinearSVC-three")
    model.intercept_ = model.intercept_[:2]
    assert refusal(model) == (
        "model.intercept_ is a float64 array of shape (2,) where it must be "
        "finite float64 numbers of shape planes=3"
    )


def test_a_model_of_an_earlier_version_may_lack_a_parameter():
    state, arrays = dump_state(fitted("LinearSVC"))
    del state["parameters"]["reg_lambda"]
    assert load_state(state, arrays).reg_lambda is None
