"""Solutions of notebook 06. Each is one way among several.

Read after: ../06_the_loop.ipynb.
"""

from __future__ import annotations

from agentkit import ToolCall

# 1 · Predict. The same call: two rounds bring the same result, then one last call without
# tools makes three. Something new each time: three rounds, and the last call makes four.
GUESS = [3, 4]

# 3 · Break it. Each call differs from the one before, so nothing repeats. The package also
# counts rounds; and where the results are the same as well, a person would say it repeats.
SIX_CALLS = [ToolCall(f"c{day}", "sky.weather", {"day": f"day {day}"}) for day in range(6)]


def description() -> str:
    """2 · Build. The words of people who need it, and none that any request may say."""
    return (
        "Weather of one day. Use when the user asks about weather, rain, sun or temperature, or "
        "what to wear or take along (umbrella, coat, 带伞, 穿什么). Not for noting things down. "
        "Returns one sentence."
    )
