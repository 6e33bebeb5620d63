"""The command. Answers `--version` itself, before anything else is imported."""

import os
import sys


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        from unspool import __version__

        if sys.stdout is None:
            sys.exit(2)
        try:
            os.write(sys.stdout.fileno(), f"unspool {__version__}\n".encode())
        except BrokenPipeError:  # nobody listens
            pass
        except OSError as error:
            sys.stderr.write(f"unspool: {error.strerror}\n")
            sys.exit(2)
        return
    from unspool.cli import run

    run()


if __name__ == "__main__":
    main()
