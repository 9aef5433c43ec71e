"""What everything stands on: parameters, state, fingerprints, sparse structure, rounding."""
