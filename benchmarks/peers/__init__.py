"""One adapter for each rival, and one for Hedgerow itself; each imports its library when it runs."""
