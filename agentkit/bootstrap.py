"""Decides where a command runs: here if all is there, else in the checkout's `.venv`.

    python -m agentkit lab ──▶ complete here? ──yes──▶ cli.main
                                    │ no
                                    ▼
                     setup_env makes or mends .venv
                                    │
                                    └──▶ the same command, run by .venv's Python

Where the kit was installed as a package there is no checkout, and nothing to set up.

Read after: checkout.py, setup_env.py, cli.py.
"""

from __future__ import annotations

import os
import sys

from agentkit import cli, setup_env
from agentkit.checkout import is_checkout, missing, run
from agentkit.errors import SetupError

GUARD = "AGENTKIT_SETUP_DONE"  # set for the second start, which must not set up again


def main(argv: list[str]) -> int:
    """Run a command of the kit in an interpreter that can; return its exit status."""
    options = cli.parse(argv)  # a mistyped command must not install anything first
    dev = options.command == "test"
    lacking = missing(dev=dev) if is_checkout() else []
    if not lacking:
        return cli.main(argv)
    try:
        if os.environ.get(GUARD):
            setup_env.forget()
            raise SetupError(
                f"{sys.executable} still lacks: {', '.join(lacking)}.",
                hint="Run the same command again: it installs what is missing. If that does not "
                f"help, delete {setup_env.ENV} first.",
            )
        python = setup_env.ensure_environment(dev=dev)
    except SetupError as error:
        print(f"agentkit: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nagentkit: stopped. The next start begins the set-up anew.", file=sys.stderr)
        return 130
    return run([str(python), "-m", "agentkit", *argv], env={**os.environ, GUARD: "1"})
