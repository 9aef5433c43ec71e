"""The command line: ``hedgerow auto``, ``train``, ``predict``, ``evaluate``, ``describe``."""
