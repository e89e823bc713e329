"""Whose memory a caller over HTTP gets: the one that the caller's credential names.

    Authorization: Bearer TOKEN ──tenants.json──▶ "ada"      anything else ──▶ 401

A caller cannot choose a tenant in any other way: no tool has an argument for it. The
file holds tokens, or better their hashes: {"sha256:<hex of the token>": "ada"}.

Read after: nothing.     Read next: memory.py.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver.exceptions import ToolError

HASHED = "sha256:"
MIN_TOKEN_CHARS = 16  # what is shorter can be guessed over a network


class TenantTokens:
    """Bearer tokens and the tenant of each. It is what the SDK calls a token verifier.

    Args:
        tenants: From a token, or "sha256:" and its hash in hex, to a tenant.

    Raises:
        ValueError: Says which entry cannot be used.
    """

    def __init__(self, tenants: Mapping[str, str]) -> None:
        if not tenants:
            raise ValueError("there is no token in it")
        self._tenants: list[tuple[str, str]] = []
        for token, tenant in tenants.items():
            if not isinstance(tenant, str) or not tenant.strip():
                raise ValueError("a token has an empty tenant")
            if not token.startswith(HASHED) and len(token) < MIN_TOKEN_CHARS:
                raise ValueError(
                    f"the token of {tenant!r} has {len(token)} characters; "
                    f"use at least {MIN_TOKEN_CHARS}"
                )
            plain = not token.startswith(HASHED)
            self._tenants.append((_hash(token) if plain else token[len(HASHED) :].lower(), tenant))

    @classmethod
    def read(cls, path: Path) -> TenantTokens:
        """Read a file of tokens.

        Raises:
            ValueError: It cannot be read or used; says why.
        """
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{path} cannot be read: {error}") from error
        if not isinstance(entries, dict):
            raise ValueError(f'{path} is no object such as {{"TOKEN": "ada"}}')
        try:
            return cls(entries)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return whom a token stands for; every entry is compared, whichever matches."""
        found = None
        for known, tenant in self._tenants:
            if hmac.compare_digest(known, _hash(token)):
                found = tenant
        return None if found is None else AccessToken(token=token, client_id=found, scopes=[])


def tenant_of_caller() -> str:
    """Return the tenant of the call that is running.

    Raises:
        ToolError: Nobody has said who they are; the endpoint refuses such a caller before.
    """
    access = get_access_token()
    if access is None:
        raise ToolError("This memory needs a credential. Send it as Authorization: Bearer TOKEN.")
    return access.client_id


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
