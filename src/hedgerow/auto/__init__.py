"""What ``hedgerow auto`` does, callable from Python: encode, choose C, fit, test, advise."""

from hedgerow.auto import descriptions as descriptions
from hedgerow.auto.choose import CandidateScore
from hedgerow.auto.encoder import TableEncoder
from hedgerow.auto.fit import AutoInterrupt, auto_fit
from hedgerow.auto.judge import HeldOutReport, Recall
from hedgerow.auto.result import AutoResult
from hedgerow.auto.rivals import Rival, Rivals
from hedgerow.auto.table_classifier import TableClassifier
from hedgerow.describe.hints import Hint
from hedgerow.describe.profile import Profile

__all__ = [
    "AutoInterrupt",
    "AutoResult",
    "CandidateScore",
    "HeldOutReport",
    "Hint",
    "Profile",
    "Recall",
    "Rival",
    "Rivals",
    "TableClassifier",
    "TableEncoder",
    "auto_fit",
]
