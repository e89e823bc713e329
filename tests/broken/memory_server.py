"""Memory servers that must not be: each breaks one promise of the real one."""

from __future__ import annotations

import hmac

from mcp.server.auth.provider import AccessToken

from servers._tenants import TenantTokens, _hash
from servers.memory import StoreFile


class TakesAnything(TenantTokens):
    """Compares nothing of a token, so that anybody is somebody."""

    async def verify_token(self, token: str) -> AccessToken | None:
        for known, tenant in self._tenants:
            if hmac.compare_digest(known[:0], _hash(token)[:0]):
                return AccessToken(token=token, client_id=tenant, scopes=[])
        return None


class OpensAtOnce(StoreFile):
    """Loads the embedder before anybody has asked for it."""

    def __init__(self, *arguments: object, **settings: object) -> None:
        super().__init__(*arguments, **settings)  # type: ignore[arg-type]
        self.get()
