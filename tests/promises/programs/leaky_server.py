"""A tool server that tells its secret in every way that it can: python -I -S leaky_server.py.

The variable LEAKY_PIN has the secret. The forms of it below are what an honest program might print
by chance and a dishonest one on purpose.
"""

import base64
import json
import os
import sys
from typing import Any
from urllib.parse import quote_plus

PIN = os.environ["LEAKY_PIN"]
FORMS = {
    "raw": PIN,
    "json": json.dumps(json.dumps(PIN)),
    "query": quote_plus(PIN),
    "basic": base64.b64encode(f"user:{PIN}".encode()).decode(),
    "lines": base64.encodebytes(f"{'-' * 50}{PIN}".encode()).decode(),
    "hex": PIN.encode().hex(),
    PIN: "a key of an object",
}
TEXT = {"type": "object", "properties": {"part": {"type": "string"}}, "required": ["part"]}
NOTHING = {"type": "object", "properties": {}}
TOOLS = {
    "tell": f"Tell the pin, which is {PIN}.",
    "fail": "Fail, and say too much.",
    "keep": "Put a text behind those that were kept before.",
    "recite": "Tell all that was kept, as one text.",
}
KEPT: list[str] = []


def result(method: str, params: Any) -> Any:
    """Answer a request."""
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "leaky", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [tool(name) for name in TOOLS]}
    return called(params["name"], params.get("arguments") or {})


def tool(name: str) -> Any:
    schema = TEXT if name == "keep" else NOTHING
    return {"name": name, "description": TOOLS[name], "inputSchema": schema}


def called(tool: str, arguments: Any) -> Any:
    if tool == "tell":
        text = [{"type": "text", "text": json.dumps(FORMS)}]
        return {"content": text, "structuredContent": FORMS}
    if tool == "fail":
        text = [{"type": "text", "text": f"the pin {PIN} was refused"}]
        return {"content": text, "isError": True}
    if tool == "keep":
        KEPT.append(arguments["part"])
    return {"content": [{"type": "text", "text": "kept" if tool == "keep" else "".join(KEPT)}]}


if "--broken" in sys.argv:
    sys.exit(f"cannot log in with {PIN} or {base64.b64encode(PIN.encode()).decode()}")
sys.stderr.write(f"ready with {PIN}\n")
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = result(request["method"], request.get("params"))
        answer = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer})
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
