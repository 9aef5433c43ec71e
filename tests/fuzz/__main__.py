"""``python -m tests.fuzz``: settle what must be settled before hedgerow is imported, then run."""

from __future__ import annotations

import os
import sys
import warnings

from tests.sanitized_core import use_core_of_environment

if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads would not survive a fork
    warnings.simplefilter("ignore")
    use_core_of_environment()
    from tests.fuzz.command_line import main

    sys.exit(main())
