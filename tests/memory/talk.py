"""A process that holds one conversation: python -m tests.memory.talk STORE TENANT TEXT...

It prints one answer a line.
"""

from __future__ import annotations

import asyncio
import sys

from agentkit.memory.long import LongTermMemory
from agentkit.memory.tenant_memory import TenantMemory
from agentkit.session import Session


def main() -> None:
    file, tenant, *texts = sys.argv[1:]
    with LongTermMemory.open(file) as store:
        session = Session(memory=TenantMemory(store, tenant=tenant))
        for text in texts:
            answer = asyncio.run(session.ask(text))
            sys.stdout.buffer.write(f"{answer}\n".encode())


if __name__ == "__main__":
    main()
