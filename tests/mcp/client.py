#!/usr/bin/env python3
"""A client of another implementation (the Python SDK of the protocol) against `cru mcp`.

    python3 tests/mcp/client.py CRU VAULT SESSION QUERY

Lists and calls every tool, reads a resource and uses each prompt. Needs the package `mcp`. Prints one JSON object.
"""

import asyncio
import json
import os
import sys
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def text(result):
    return "".join(part.text for part in result.content)


async def main(program, vault):
    arguments = ["--vault", vault, "mcp", "--write"]
    server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ), cwd=vault)
    begun = time.monotonic()
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        took = {"initialize_ms": round((time.monotonic() - begun) * 1000)}
        tools = (await session.list_tools()).tools

        async def call(name, **arguments):
            at = time.monotonic()
            result = await session.call_tool(name, arguments)
            took[f"{name}_ms"] = round((time.monotonic() - at) * 1000)
            failed = getattr(result, "isError", None) or getattr(result, "is_error", None)
            return {"failed": bool(failed), "text": text(result)}

        hits = await call("search", query=sys.argv[4], project="*")
        rows = [line.strip() for line in hits["text"].splitlines() if line.startswith("  ")]
        refs = [row.split(",")[0].strip('"') for row in rows]
        answers = {
            "search": hits,
            "read": await call("read", refs=refs[:3]),
            "before": await call("before", command="cargo test"),
            "decisions": await call("decisions", project="*"),
            "query": await call("query", kind="steps", group_by=["tool"], agg=["count"]),
            "status": await call("status"),
            "log": await call("log", events=[{"event": "note", "text": "said twice"}], session=sys.argv[3], client_id="a"),
        }
        again = await call("log", events=[{"event": "note", "text": "said twice"}], session=sys.argv[3], client_id="a")
        resources = (await session.list_resources()).resources
        resource = await session.read_resource(resources[0].uri)
        prompts = (await session.list_prompts()).prompts
        used = {}
        for prompt in prompts:
            given = {argument.name: sys.argv[3] for argument in prompt.arguments or []}
            got = await session.get_prompt(prompt.name, given)
            used[prompt.name] = len(got.messages[0].content.text)
        print(json.dumps({
            "protocol": str(getattr(hello, "protocolVersion", None) or getattr(hello, "protocol_version", "")),
            "tools": [tool.name for tool in tools],
            "answers": answers,
            "again": again,
            "refs": refs,
            "resources": len(resources),
            "resource": resource.contents[0].text,
            "prompts": used,
            "took": took,
        }))


asyncio.run(main(sys.argv[1], sys.argv[2]))
