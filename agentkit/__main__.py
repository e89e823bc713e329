"""`python -m agentkit`: the door, for any Python that a machine happens to have.

This file and `agentkit/__init__.py` are read by old Pythons too, so that they can be
told what is wrong instead of showing a syntax error. Hence the old way of writing here.

Read next: bootstrap.py, cli.py.
"""

import os
import shutil
import subprocess
import sys

OLDEST, NEWEST = (3, 11), (3, 14)  # as pyproject.toml says; a test compares


def refusal(version, other):  # type: (tuple[int, ...], str | None) -> str
    """Return what to tell a Python that is too old or too new."""
    bounds = OLDEST + NEWEST + tuple(version[:2])
    what = "agentkit needs Python %d.%d to %d.%d; this is Python %d.%d." % bounds
    if other:
        return what + "\nHint: this machine has %s too. Use that: %s -m agentkit lab" % (
            other,
            other,
        )
    return what + "\nHint: install Python %d.%d and run the same command with it." % NEWEST


def other_python():  # type: () -> str | None
    """Return the name of a fitting Python on the search path, if there is one that starts."""
    if not hasattr(shutil, "which"):
        return None
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        name = "python3.%d" % minor
        if shutil.which(name):
            with open(os.devnull, "w") as nothing:
                if subprocess.call([name, "-c", ""], stdout=nothing, stderr=nothing) == 0:
                    return name
    return None


if __name__ == "__main__":
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        sys.exit(refusal(sys.version_info[:2], other_python()))

    from agentkit.bootstrap import main

    sys.exit(main(sys.argv[1:]))
