"""Broken: cuts a tool's name at 64 characters, so two tools may get one name."""

from __future__ import annotations


def wire_name(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "__" for c in name)[:64]
