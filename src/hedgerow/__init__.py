"""Support vector machines and ensembles that end with a proof.

Every public name can be imported from here; each is loaded when it is first used, and so are the
modules ``kernels``, ``testing``, ``theory`` and ``tree``. ``describe`` is a function and a module::

    from hedgerow import LinearSVC
    model = LinearSVC(C=1.0).fit(X, y)
    print(model.certificate_)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from hedgerow import kernels, testing, theory, tree
    from hedgerow._engine import engine
    from hedgerow.auto import AutoInterrupt, AutoResult, TableClassifier, TableEncoder, auto_fit
    from hedgerow.calibration.model import CalibratedModel, calibrate
    from hedgerow.calibration.thresholds import ThresholdCurve, ThresholdModel, tune_threshold
    from hedgerow.calibrators.maps import ScoreCalibrator
    from hedgerow.data.io import Table, read_table
    from hedgerow.describe import describe as describe
    from hedgerow.ensemble import (
        BalancedRandomForestClassifier,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        Importances,
        OobTuning,
        OutOfBag,
        RandomForestClassifier,
        RandomForestRegressor,
        SelectFromForest,
        TriedForest,
        tune_by_oob,
    )
    from hedgerow.errors import (
        DataError,
        DataTypeError,
        EdgeOfGridWarning,
        FileAccessError,
        FileFormatError,
        HedgerowError,
        ModelFormatError,
        ModelVersionWarning,
        NotCertifiedWarning,
        NotSeparableError,
        ParameterError,
        ScaleWarning,
        StoppedError,
        UnavailableError,
        UnseenCategoryWarning,
    )
    from hedgerow.evaluation import (
        Comparison,
        Difference,
        Evaluation,
        Measurement,
        compare,
        evaluate,
    )
    from hedgerow.kernels import (
        RBF,
        AdditiveChiSquared,
        ChiSquared,
        Cosine,
        FunctionKernel,
        HistogramIntersection,
        Kernel,
        KernelProduct,
        KernelSum,
        Laplacian,
        Linear,
        ObjectKernel,
        Polynomial,
        Precomputed,
        RowsKernel,
        ScaledKernel,
        Sigmoid,
        Wavelet,
    )
    from hedgerow.linear import (
        AveragedPerceptron,
        Hyperplane,
        KernelPerceptron,
        LinearOneClassSVM,
        LinearSVC,
        LinearSVCCV,
        LinearSVR,
        LinearSVRCV,
        Perceptron,
        PointGroups,
        RegularizationPath,
        VotedPerceptron,
        regularization_path,
    )
    from hedgerow.monitor import Event, watch
    from hedgerow.persist import checkpoint, load, save
    from hedgerow.persist.libsvm_model import read_libsvm_model, write_libsvm_model
    from hedgerow.problems.certificates import (
        Certificate,
        OverlapCertificate,
        certify,
        certify_overlap,
    )
    from hedgerow.problems.hard_margin import HardMarginProblem, Overlap
    from hedgerow.problems.linear import LinearProblem
    from hedgerow.resampling import (
        BootstrapResult,
        ConfidenceInterval,
        ErrorEstimate,
        bootstrap,
        bootstrap_error,
    )
    from hedgerow.solvers import Settings, Solution, solve
    from hedgerow.svm import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
    from hedgerow.tree import DecisionStump, DecisionTreeClassifier, DecisionTreeRegressor, Tree

_HOMES = {
    "_engine": ["engine"],
    "auto": ["AutoInterrupt", "AutoResult", "TableClassifier", "TableEncoder", "auto_fit"],
    "calibration": ["CalibratedModel", "calibrate"],
    "calibrators": ["ScoreCalibrator"],
    "problems.certificates": ["Certificate", "OverlapCertificate", "certify", "certify_overlap"],
    "ensemble": [
        "BalancedRandomForestClassifier",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "Importances",
        "OobTuning",
        "OutOfBag",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "SelectFromForest",
        "TriedForest",
        "tune_by_oob",
    ],
    "errors": [
        "DataError",
        "DataTypeError",
        "EdgeOfGridWarning",
        "FileAccessError",
        "FileFormatError",
        "HedgerowError",
        "ModelFormatError",
        "ModelVersionWarning",
        "NotCertifiedWarning",
        "NotSeparableError",
        "ParameterError",
        "ScaleWarning",
        "StoppedError",
        "UnavailableError",
        "UnseenCategoryWarning",
    ],
    "evaluation": [
        "Comparison",
        "Difference",
        "Evaluation",
        "Measurement",
        "compare",
        "evaluate",
    ],
    "data.io": ["Table", "read_table"],
    "kernels": [
        "RBF",
        "AdditiveChiSquared",
        "ChiSquared",
        "Cosine",
        "FunctionKernel",
        "ObjectKernel",
        "HistogramIntersection",
        "Kernel",
        "KernelProduct",
        "KernelSum",
        "Laplacian",
        "Linear",
        "Polynomial",
        "Precomputed",
        "RowsKernel",
        "ScaledKernel",
        "Sigmoid",
        "Wavelet",
    ],
    "linear": [
        "AveragedPerceptron",
        "Hyperplane",
        "KernelPerceptron",
        "LinearOneClassSVM",
        "LinearSVC",
        "LinearSVCCV",
        "LinearSVR",
        "LinearSVRCV",
        "Perceptron",
        "PointGroups",
        "RegularizationPath",
        "VotedPerceptron",
        "regularization_path",
    ],
    "monitor": ["Event", "watch"],
    "persist": ["checkpoint", "load", "save"],
    "persist.libsvm_model": ["read_libsvm_model", "write_libsvm_model"],
    "problems": ["HardMarginProblem", "LinearProblem", "Overlap"],
    "resampling": [
        "BootstrapResult",
        "ConfidenceInterval",
        "ErrorEstimate",
        "bootstrap",
        "bootstrap_error",
    ],
    "solvers": ["Settings", "Solution", "solve"],
    "svm": ["SVC", "SVDD", "SVR", "NuSVC", "NuSVR", "OneClassSVM"],
    "calibration.thresholds": ["ThresholdCurve", "ThresholdModel", "tune_threshold"],
    "tree": ["DecisionStump", "DecisionTreeClassifier", "DecisionTreeRegressor", "Tree"],
}
_MODULES = ("describe", "kernels", "testing", "theory", "tree")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME_OF]  # noqa: PLE0604 - strings all, taken from above


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in, or a public module."""
    if name in _MODULES:
        return importlib.import_module(f"hedgerow.{name}")
    if name not in _HOME_OF:
        msg = f"module 'hedgerow' has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        module = importlib.import_module(f"hedgerow.{_HOME_OF[name]}")
    except ImportError as error:
        if error.name == "hedgerow._core":
            error.add_note(
                "Hedgerow's compiled core is missing: run 'make demo' in the checkout, or 'pip install .'"
            )
        raise
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
