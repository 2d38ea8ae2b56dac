"""Reads a crawl with the official client of the Model Context Protocol, and checks the API with
independent validators.

    agents.py DIR --crawler FILE

The client (PyPI `mcp`) starts `crawler mcp DIR --against COPY`, lists the tools, checks that their
schemas are JSON Schema, and calls each one with arguments that the schema allows. Then
openapi-spec-validator checks the description of the API of `crawler serve DIR`, and jsonschema
checks an answer of every route.
"""

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import tempfile
import urllib.request
from pathlib import Path
from urllib.parse import quote

from crawls import Findings
from jsonschema import Draft202012Validator
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from openapi_spec_validator import validate


def visits(crawler, directory):
    """Returns the visits of a crawl."""
    command = [crawler, "export", directory, "--format", "jsonl"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout
    return [json.loads(line) for line in lines.splitlines()]


async def call_tools(crawler, directory, older, pages, findings):
    """Calls every tool. Returns the number of calls."""
    server = StdioServerParameters(command=crawler, args=["mcp", directory, "--against", older])
    url = pages[0]["url"]
    calls = {
        "search": {"query": pages[0]["title"].split()[0], "limit": 3},
        "page": {"url": url},
        "links": {"url": url},
        "similar": {"url": url},
        "status": {},
        "changes": {"limit": 2},
    }
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        if tools.keys() != calls.keys():
            findings.add(f"the tools are {sorted(tools)}")
        for name, arguments in calls.items():
            schema = getattr(tools[name], "inputSchema", None) or tools[name].input_schema
            Draft202012Validator.check_schema(schema)
            Draft202012Validator(schema).validate(arguments)
            called = (await session.call_tool(name, arguments)).model_dump(by_alias=True)
            if called["isError"] or not called["structuredContent"]:
                findings.add(f"{name}: {called}")
        refused = (await session.call_tool("search", {"nonsense": 1})).model_dump(by_alias=True)
        if not refused["isError"]:
            findings.add(f"a wrong call was not refused: {refused}")
    return len(calls) + 1


def check_api(crawler, directory, older, pages, findings):
    """Checks an answer of every route. Returns the number of routes."""
    serving = subprocess.Popen([crawler, "serve", directory, "--against", older], stderr=subprocess.PIPE, text=True)
    try:
        line = next(line for line in serving.stderr if "dashboard: " in line)
        base = re.search(r"http://[^/]+", line)[0]

        def get(target):
            with urllib.request.urlopen(base + target, timeout=60) as answer:
                return json.load(answer)

        description = get("/api/openapi.json")
        validate(description)
        duplicates = [page["url"] for page in pages if page["duplicate_of"]]
        for path, item in description["paths"].items():
            url = duplicates[0] if path == "/api/difference" else pages[0]["url"]
            given = {"url": url, "q": pages[0]["title"].split()[0]}
            wanted = [one["name"] for one in item["get"].get("parameters", []) if one.get("required")]
            query = "&".join(f"{name}={quote(given[name], safe='')}" for name in wanted)
            schema = item["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            whole = {**schema, "components": description["components"]}
            for error in Draft202012Validator(whole).iter_errors(get(f"{path}?{query}")):
                findings.add(f"{path}: {error.message}")
        return len(description["paths"])
    finally:
        serving.terminate()
        serving.wait(60)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("directory")
    arguments.add_argument("--crawler", required=True)
    wish = arguments.parse_args()
    findings = Findings("agents")
    pages = visits(wish.crawler, wish.directory)
    pages = [page for page in pages if page["title"] and (page["verdict"] == "unique" or page["duplicate_of"])]
    pages.sort(key=lambda page: page["verdict"] != "unique")
    with tempfile.TemporaryDirectory() as scratch:
        older = shutil.copytree(wish.directory, Path(scratch, "older"))
        calls = asyncio.run(call_tools(wish.crawler, wish.directory, str(older), pages, findings))
        routes = check_api(wish.crawler, wish.directory, str(older), pages, findings)
    findings.finish(f"{calls} calls of tools by the client of MCP, {routes} routes of the API validated")


if __name__ == "__main__":
    main()
