"""``python -m zwang``: the command line."""

from __future__ import annotations

import sys


def run() -> None:
    """Run the command `zwang`; Ctrl-C ends it with 130 from its first moment on, while it is being imported too."""
    try:
        from zwang.cli import main

        main(prog_name="zwang")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
