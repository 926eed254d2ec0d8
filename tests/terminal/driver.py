"""The labeller as a process of its own, for tests on a pseudo terminal: `python -m tests.terminal.driver FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from rankproof.cli.main import INTERRUPTED
from rankproof.errors import RankproofError
from rankproof.labeling.session import Session
from rankproof.terminal.app import run_labeller
from tests.terminal.help_centre import help_centre


def main() -> int:
    """Label the help centre."""
    target = Path(sys.argv[1]) / "truth.json"
    try:
        with Session.open(help_centre(), target, "anna") as session:
            return run_labeller(session, guideline="Judge what the text says.", file=target)
    except RankproofError as exc:
        print(exc, file=sys.stderr)
        return exc.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
