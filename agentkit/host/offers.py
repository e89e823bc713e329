"""What servers offer beside tools: resources to read, prompts, completions.

    resources()  note://{id}, memory://user/preferences     the program chooses to read
    prompts()    notes.review_week                          a person chooses to start
    tools        notes.write_note                           the model chooses to call

The three differ in who chooses, and that is why the protocol keeps them apart.

Read after: asking.py.     Read next: mcp_host.py.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from mcp import types

from agentkit.errors import ToolError
from agentkit.host.answers import (
    Prompt,
    Resource,
    contents_text,
    to_messages,
    to_prompt,
    to_resource,
)
from agentkit.host.asking import ask
from agentkit.host.connect import pages
from agentkit.host.link import ServerLink
from agentkit.messages import Message
from agentkit.text import clean_text

Links = Sequence[ServerLink]


async def resources(links: Links, limit_s: float) -> list[Resource]:
    """Return the resources and templates of the servers, in their order."""
    found = await asyncio.gather(*(_resources(link, limit_s) for link in links))
    return [resource for each in found for resource in each]


async def _resources(link: ServerLink, limit_s: float) -> list[Resource]:
    what = f"the list of resources of {link.name}"
    plain = await ask(
        link, what, lambda client: pages(client.list_resources), limit_s=limit_s, again=True
    )
    templates = await ask(
        link,
        what,
        lambda client: pages(client.list_resource_templates),
        limit_s=limit_s,
        again=True,
    )
    return [
        *(to_resource(link.name, each) for page in plain for each in page.resources),
        *(to_resource(link.name, each) for page in templates for each in page.resource_templates),
    ]


async def read(links: Links, uri: str, limit_s: float) -> str:
    """Return what a resource holds, as text."""
    uri = clean_text(uri)
    link = await _owner(links, uri, limit_s)
    answer = await ask(
        link, uri, lambda client: client.read_resource(uri), limit_s=limit_s, again=True
    )
    return clean_text("\n".join(contents_text(contents) for contents in answer.contents))


async def prompts(links: Links, limit_s: float) -> list[Prompt]:
    """Return the prompts of the servers, in their order."""
    found = await asyncio.gather(
        *(
            ask(
                link,
                f"the list of prompts of {link.name}",
                lambda client: pages(client.list_prompts),
                limit_s=limit_s,
                again=True,
            )
            for link in links
        )
    )
    return [
        to_prompt(link.name, each)
        for link, answer in zip(links, found, strict=True)
        for page in answer
        for each in page.prompts
    ]


async def prompt(
    link: ServerLink, name: str, arguments: Mapping[str, str], limit_s: float
) -> list[Message]:
    """Return the messages of a prompt, filled in."""
    filled = {clean_text(key): clean_text(str(value)) for key, value in arguments.items()}
    answer = await ask(
        link,
        name,
        lambda client: client.get_prompt(name.partition(".")[2], filled),
        limit_s=limit_s,
        again=True,
    )
    return to_messages(answer)


async def complete(links: Links, what: str, argument: str, value: str, limit_s: float) -> list[str]:
    """Return what a server suggests for an argument that is half typed."""
    ref: types.PromptReference | types.ResourceTemplateReference
    if "://" in what:
        ref = types.ResourceTemplateReference(uri=what)
        link = await _owner(links, what, limit_s)
    else:
        ref = types.PromptReference(name=what.partition(".")[2])
        link = links[0]
    typed = {"name": argument, "value": clean_text(value)}
    answer = await ask(
        link, what, lambda client: client.complete(ref, typed), limit_s=limit_s, again=True
    )
    return [clean_text(each) for each in answer.completion.values]


async def _owner(links: Links, uri: str, limit_s: float) -> ServerLink:
    """Return the server that has a resource; the only server is not asked whether it has."""
    if len(links) == 1:
        return links[0]
    known = await resources(links, limit_s)
    by_name = {link.name: link for link in links}
    for resource in known:
        if uri == resource.uri or _pattern(resource.uri).fullmatch(uri):
            return by_name[resource.server]
    near = get_close_matches(uri, [resource.uri for resource in known], n=3, cutoff=0.4)
    raise ToolError(
        f"No server that is ready has the resource {uri!r}.",
        hint=f"Use one of: {', '.join(near or [r.uri for r in known][:5]) or 'there are none'}.",
    )


def _pattern(template: str) -> re.Pattern[str]:
    """Return what the uris of a template look like: each part in braces is filled in."""
    parts = re.split(r"(\{[^}]*\})", template)
    return re.compile("".join(".+" if part[:1] == "{" else re.escape(part) for part in parts))
