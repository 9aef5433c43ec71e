"""``python -m hedgerow`` is the command line, where the command itself is not on the path."""

from hedgerow.cli.main import main

if __name__ == "__main__":
    main()
