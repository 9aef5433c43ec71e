"""The command line: ``hedgerow auto``, ``hedgerow train``, ``hedgerow predict``."""
