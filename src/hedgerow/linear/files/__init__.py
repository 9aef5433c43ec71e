"""Linear machines fitted to files, in passes over blocks of rows."""
