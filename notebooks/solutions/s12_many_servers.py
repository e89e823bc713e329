"""Solutions of notebook 12. Each is one way among several.

Read after: ../12_many_servers.ipynb.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentkit.text import terms

# 1 · Predict. Reading is allowed, and so are the pragmas that only tell about a table. What
# deletes is refused whatever stands before it; a function that loads code is on no list.
GUESS = [False, True, False, True, False]

# 3 · Break it. One row is enough: a cell has no limit. `zeroblob` makes as many bytes as it
# is told to, and `hex` turns each into two characters. The package allows neither a function
# that makes a value of any size nor a cell of over 200 characters.
FLOOD = "SELECT hex(zeroblob(100000))"


def pick(task: str, servers: Mapping[str, str]) -> list[str]:
    """2 · Build. One term in common is enough; the order is that of the servers."""
    wanted = set(terms(task))
    return [name for name, line in servers.items() if wanted & set(terms(f"{name} {line}"))]
