"""A tool server that tells its secret in every way that it can: python leaky_server.py.

The variable LEAKY_PIN has the secret. FORMS below are what an honest program might print by chance
and a dishonest one on purpose.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from urllib.parse import quote_plus

from mcp.server.fastmcp import FastMCP

PIN = os.environ["LEAKY_PIN"]
KEPT: list[str] = []

if "--broken" in sys.argv:
    sys.exit(f"cannot log in with {PIN} or {base64.b64encode(PIN.encode()).decode()}")

server = FastMCP("leaky", log_level="ERROR")


@server.tool(description=f"Tell the pin, which is {PIN}.")
def tell() -> dict[str, str]:
    return {
        "raw": PIN,
        "json": json.dumps(json.dumps(PIN)),
        "query": quote_plus(PIN),
        "basic": base64.b64encode(f"user:{PIN}".encode()).decode(),
        "lines": base64.encodebytes(f"{'-' * 50}{PIN}".encode()).decode(),
        "hex": PIN.encode().hex(),
        PIN: "a key of an object",
    }


@server.tool()
def fail() -> str:
    """Fail, and say too much."""
    raise ValueError(f"the pin {PIN} was refused")


@server.tool()
def keep(part: str) -> str:
    """Put a text behind those that were kept before."""
    KEPT.append(part)
    return "kept"


@server.tool()
def recite() -> str:
    """Tell all that was kept, as one text."""
    return "".join(KEPT)


if __name__ == "__main__":
    sys.stderr.write(f"ready with {PIN}\n")
    server.run()
