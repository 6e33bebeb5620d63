"""The command. Answers `--version` itself, before anything else is imported."""

import sys


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        from unspool import __version__

        if sys.stdout is None:
            sys.exit(2)
        sys.stdout.write(f"unspool {__version__}\n")
        return
    from unspool.cli import run

    run()


if __name__ == "__main__":
    main()
