"""How much the features of a forest matter: one file per measure."""

from hedgerow.ensemble.importance.record import Importances

__all__ = ["Importances"]
