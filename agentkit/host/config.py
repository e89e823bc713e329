"""Reads the `mcpServers` block that desktop clients and editors share.

    {"mcpServers": {"notes": {"command": "python", "args": ["-m", "servers.notes"]},
                    "wiki":  {"url": "http://127.0.0.1:8000/mcp"}}}
        ──load_config()──▶  {"notes": ServerConfig(...), "wiki": ServerConfig(...)}

A server is either a program that is started (`command`, `args`, `env`, `cwd`) or an
address that is reached (`url`, `headers`). Keys that other programs put there are
left alone. Whatever cannot be right is refused with the place where it stands.

Read after: errors.py.     Read next: link.py.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentkit.errors import ConfigError

MAX_SHOWN_CHARS = 200  # enough for a program and its arguments, not for a program in them
STDIO_KEYS = "command, args, env, cwd"
HTTP_KEYS = "url, headers, type"
HTTP_TYPES = ("http", "streamable-http", "streamable_http", "streamableHttp")
# ${NAME}, ${NAME:-otherwise} and the editors' ${env:NAME}
VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How one server is started or reached.

    Attributes:
        name: What tools are qualified by, e.g. "notes". Letters of any script,
            digits, `_` and `-`; anything else was turned into `_`.
        command: The program to start, e.g. "npx"; empty for a server with a url.
        args: What the program is started with.
        env: Set for the program, beside the few variables it inherits.
        cwd: The folder it starts in; None for the present one.
        url: The address of a server over streamable HTTP; empty for a program.
        headers: Sent with each HTTP request, e.g. an authorization.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """What is started or reached, as a person would type it, cut where it is long."""
        whole = self.url or " ".join([self.command, *self.args])
        return whole if len(whole) <= MAX_SHOWN_CHARS else f"{whole[:MAX_SHOWN_CHARS]}…"


def server_name(written: str) -> str:
    """Return the name a server goes by: `my server.v2` becomes `my_server_v2`.

    A dot separates server and tool, and models' servers take no blanks in a name.
    """
    return re.sub(r"[^\w-]+", "_", written.strip()).strip("_")


def load_config(config: Mapping[str, Any] | str | Path) -> dict[str, ServerConfig]:
    """Return the servers of a block, by name, in its order.

    Args:
        config: A dict, JSON text (anything that begins with a brace), or the path of
            a file. Takes `mcpServers`, the `servers` of VS Code, or the bare servers.
            A server with `"disabled": true` is left out.

    Raises:
        ConfigError: The file or the JSON cannot be read, or a server cannot be right.
    """
    block, where = _servers(_read(config) if isinstance(config, str | Path) else config)
    servers: dict[str, ServerConfig] = {}
    for written, entry in block.items():
        place = f"{where}.{written}" if where else written
        name = server_name(written)
        if not name or name in servers:
            raise ConfigError(
                f"{place}: another server is called {name!r} too."
                if name
                else f"{place}: no name.",
                hint="Give each server a name of its own, of letters, digits, _ and -.",
            )
        if not isinstance(entry, Mapping):
            raise _wrong(place, entry, "an object", '{"command": "python", "args": [...]}')
        if not entry.get("disabled"):
            servers[name] = _server(name, entry, place)
    return servers


def _read(config: str | Path) -> Mapping[str, Any]:
    """Return the object that a JSON text or file holds; a file may begin with a BOM."""
    if isinstance(config, str) and config.lstrip("\ufeff \t\r\n").startswith("{"):
        source, raw = "The configuration", config.lstrip("\ufeff").encode("utf-8", "replace")
    else:
        path = Path(config).expanduser()
        source = str(path)
        try:
            raw = path.read_bytes()
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.",
                hint='Give a file, a dict, or JSON text: {"mcpServers": {...}}.',
            ) from None
    try:
        # json finds out by itself whether the bytes are UTF-8 or UTF-16, BOM or not
        found = json.loads(raw, object_pairs_hook=_no_twins)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{source} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            hint=_json_hint(error),
        ) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{source} is not JSON: {error}.", hint="Save the file as UTF-8."
        ) from None
    if not isinstance(found, Mapping):
        raise _wrong(source, found, "an object", '{"mcpServers": {...}}')
    return found


def _json_hint(error: json.JSONDecodeError) -> str:
    """Say what is most likely wrong with the JSON."""
    if "escape" in error.msg:
        return r"Write each backslash of a path twice, C:\\notes, or use C:/notes."
    return "JSON has no comments, no comma after the last item, and only double quotes."


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object, refusing a key that stands in it twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for key in keys if keys.count(key) > 1)
        raise ConfigError(
            f"The key {twin!r} stands twice in one object.",
            hint="Rename one of the two; only the last would count.",
        )
    return found


def _servers(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Return the servers and the key under which they stand."""
    for key in ("mcpServers", "servers"):
        if key in config:
            block = config[key]
            if not isinstance(block, Mapping):
                raise _wrong(key, block, "an object", '{"notes": {"command": "python"}}')
            return block, key
    if isinstance(config.get("mcp"), Mapping):
        return _servers(config["mcp"])
    entries = [entry for entry in config.values() if isinstance(entry, Mapping)]
    if (
        entries
        and len(entries) == len(config)
        and all("command" in e or "url" in e for e in entries)
    ):
        return config, ""
    raise ConfigError(
        f"There is no key mcpServers; found {', '.join(map(str, config)) or 'nothing'}.",
        hint='Write {"mcpServers": {"notes": {"command": "python", "args": [...]}}}.',
    )


def _server(name: str, entry: Mapping[str, Any], place: str) -> ServerConfig:
    """Read one server."""
    kind = entry.get("type") or entry.get("transport")
    if kind == "sse":
        raise ConfigError(
            f"{place} uses the transport sse, which was replaced in 2025.",
            hint='Give the server\'s streamable HTTP address: {"type": "http", "url": ...}.',
        )
    if ("command" in entry) == ("url" in entry) or kind not in (None, "stdio", *HTTP_TYPES):
        both = "both command and url" if "url" in entry else f"the keys {', '.join(entry)}"
        raise ConfigError(
            f"{place} has {both if entry else 'no keys'}"
            + (f" and the type {kind!r}." if kind else "."),
            hint=f"A program takes {STDIO_KEYS}; an address takes {HTTP_KEYS} (stdio or http).",
        )
    if "url" in entry:
        url = _text(entry["url"], f"{place}.url", "http://127.0.0.1:8000/mcp")
        if not url.startswith(("http://", "https://")):
            raise _wrong(f"{place}.url", url, "an address", "http://127.0.0.1:8000/mcp")
        return ServerConfig(name, url=url, headers=_texts(entry, "headers", place))
    command = _text(entry["command"], f"{place}.command", "python")
    args = entry.get("args") or []
    if not isinstance(args, list | tuple):
        raise _wrong(f"{place}.args", args, "a list", '["-m", "servers.notes"]')
    cwd = entry.get("cwd")
    return ServerConfig(
        name,
        command=os.path.expanduser(command),
        args=tuple(_text(arg, f"{place}.args[{i}]", "--port") for i, arg in enumerate(args)),
        env=_texts(entry, "env", place),
        cwd=os.path.expanduser(_text(cwd, f"{place}.cwd", "/home/me")) if cwd else None,
    )


def _texts(entry: Mapping[str, Any], key: str, place: str) -> dict[str, str]:
    """Read an object whose values are all strings."""
    found = entry.get(key) or {}
    if not isinstance(found, Mapping):
        raise _wrong(f"{place}.{key}", found, "an object", '{"NAME": "value"}')
    return {str(k): _text(value, f"{place}.{key}.{k}", "value") for k, value in found.items()}


def _text(value: object, place: str, example: str) -> str:
    """Read a string, with the variables of the environment put in."""
    if not isinstance(value, str) or "\x00" in value:
        shown = f'"{value}"' if isinstance(value, int | float) else f'"{example}"'
        raise _wrong(place, value, "a string", shown)

    def put_in(found: re.Match[str]) -> str:
        name, otherwise = found.groups()
        value = os.environ.get(name, otherwise)
        if value is None:
            raise ConfigError(
                f"{place} asks for ${{{name}}}, which is not set.",
                hint=f"Set {name} before you start, or write ${{{name}:-what to use then}}.",
            )
        return value

    return VARIABLE.sub(put_in, value)


def _wrong(place: str, value: object, wanted: str, example: str) -> ConfigError:
    """Return the error for a value of the wrong kind."""
    shown = json.dumps(value, ensure_ascii=False, default=str)[:80]
    return ConfigError(f"{place} must be {wanted}, not {shown}.", hint=f"For example {example}.")
