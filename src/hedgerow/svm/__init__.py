"""Kernel machines: thin scikit-learn shells over one solver."""

from hedgerow.svm.nu_svc import NuSVC
from hedgerow.svm.nu_svr import NuSVR
from hedgerow.svm.one_class import OneClassSVM
from hedgerow.svm.svc import SVC
from hedgerow.svm.svdd import SVDD
from hedgerow.svm.svr import SVR

__all__ = ["SVC", "SVDD", "SVR", "NuSVC", "NuSVR", "OneClassSVM"]
