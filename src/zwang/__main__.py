"""``python -m zwang``: the command line."""

from __future__ import annotations

import os
import sys


def run() -> None:
    """Run the command `zwang`; Ctrl-C ends it with 130 from its first moment on, while it is being imported too."""
    for name in ("stdin", "stdout", "stderr"):  # where one was closed, the first file that is opened would be it
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115, PTH123
    try:
        from zwang.cli import main

        main(prog_name="zwang")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
