"""``python -m prunedbpe``: the command line, for whoever has no script on the path."""

from prunedbpe.cli.main import main

if __name__ == "__main__":
    main()
