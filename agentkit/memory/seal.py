"""What stands in the file: plain bytes, or bytes that only a key can open.

    text ──seal.close()──▶ the file ──seal.open()──▶ text

With a key, texts, sources, entities, word lists, vectors and the names of tenants are
sealed with AES-256-GCM; a changed byte is noticed. Times, sizes, kinds, importance and
opaque ids stay readable, so that SQLite can sort and count. Search works unchanged,
because both indexes live in memory only.

Read after: database.py.     Read next: rows.py.
"""

from __future__ import annotations

import hmac
import os
from hashlib import scrypt, sha256
from typing import Any, Protocol

from agentkit.errors import SetupError, StoreDamagedError, StoreKeyError
from agentkit.memory.database import Database

NONCE_BYTES = 12  # NIST SP 800-38D, section 8.2
SCRYPT = {"n": 2**14, "r": 8, "p": 1, "dklen": 64}  # 16 MB and about 50 ms for each guess
_PROOF = b"agentkit memory"


class Seal(Protocol):
    """Turns bytes into what may stand in the file, and back.

    Attributes:
        secret: What keys are hashed with; 32 bytes.
        plain: Whether the file can be read without a key.
    """

    secret: bytes
    plain: bool

    def close(self, data: bytes) -> bytes:
        """Return what goes into the file."""

    def open(self, data: bytes) -> bytes:
        """Return what `close` was given."""


class PlainSeal:
    """Keeps bytes as they are."""

    plain = True

    def __init__(self, secret: bytes) -> None:
        self.secret = secret

    def close(self, data: bytes) -> bytes:
        return data

    def open(self, data: bytes) -> bytes:
        return data


class KeySeal:
    """Seals with AES-256-GCM, a fresh nonce each time."""

    plain = False

    def __init__(self, master: bytes) -> None:
        self.secret = sha256(master[32:]).digest()
        self._cipher = _aesgcm(master[:32])

    def close(self, data: bytes) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + bytes(self._cipher.encrypt(nonce, data, None))

    def open(self, data: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        try:
            return bytes(self._cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], None))
        except (InvalidTag, ValueError):
            raise StoreDamagedError(
                f"{len(data)} sealed bytes do not open: they were changed, or sealed otherwise.",
                hint="Bring back a copy of the store.",
            ) from None


def seal_of(database: Database, key: str | bytes | None) -> Seal:
    """Return the seal of a store; a new store gets one by whether a key is given.

    Raises:
        StoreKeyError: The key is wrong, missing, empty, or the store has none.
        SetupError: A key is given and the package `cryptography` is not installed.
    """
    _check_key(key)
    meta: dict[str, Any] = dict(database.read("SELECT name, value FROM meta"))
    if "salt" not in meta:
        if database.read_only:
            raise StoreDamagedError(f"{database.path} was never filled.", hint="Give another.")
        with database.write():
            meta = dict(database.read("SELECT name, value FROM meta"))
            if "salt" not in meta:
                meta = _first_seal(database, key)
    return _known_seal(meta, key, database.path)


def _check_key(key: str | bytes | None) -> None:
    """Refuse what can be no key, without a word of it in the error."""
    if not isinstance(key, str | bytes | None):
        raise StoreKeyError(
            f"A key is a text or bytes, not {type(key).__name__}.",
            hint="Give a pass phrase, or no key at all.",
        )
    if key is not None and not key:
        raise StoreKeyError("The key is empty.", hint="Give a pass phrase, or no key at all.")
    if isinstance(key, str) and any("\ud800" <= sign <= "\udfff" for sign in key):
        raise StoreKeyError(
            "The key holds half a sign: a surrogate, which no file can hold.",
            hint="Read it as UTF-8, or give it as bytes.",
        )


def _first_seal(database: Database, key: str | bytes | None) -> dict[str, Any]:
    salt = os.urandom(32)
    proof = None if key is None else KeySeal(_master(key, salt)).close(_PROOF)
    values = {"salt": salt, "proof": proof, "compactions": 0}
    for item in values.items():
        database.run("INSERT INTO meta (name, value) VALUES (?, ?)", item)
    return dict(values)


def _known_seal(meta: dict[str, Any], key: str | bytes | None, path: str) -> Seal:
    proof = meta["proof"]
    if proof is None:
        if key is not None:
            raise StoreKeyError(
                f"{path} is not encrypted, and a key was given.",
                hint="Open it without a key; to encrypt, copy the records into a new store.",
            )
        return PlainSeal(meta["salt"])
    if key is None:
        raise StoreKeyError(f"{path} is encrypted.", hint="Open it with its key: key=….")
    seal = KeySeal(_master(key, meta["salt"]))
    try:
        right = hmac.compare_digest(seal.open(proof), _PROOF)
    except StoreDamagedError:
        right = False
    if not right:
        raise StoreKeyError(f"The key does not open {path}.", hint="Check the key for typos.")
    return seal


def _master(key: str | bytes, salt: bytes) -> bytes:
    secret = key.encode() if isinstance(key, str) else key
    return scrypt(secret, salt=salt, maxmem=64 * 2**20, **SCRYPT)


def _aesgcm(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise SetupError(
            "An encrypted store needs the package cryptography.",
            hint='Install it: pip install "agentkit[encrypted]".',
        ) from None
    return AESGCM(key)
