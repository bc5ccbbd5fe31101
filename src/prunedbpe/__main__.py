"""``python -m prunedbpe``: the command line."""

from prunedbpe.cli.entry import main

if __name__ == "__main__":
    main()
