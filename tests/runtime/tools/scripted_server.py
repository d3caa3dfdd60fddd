"""A tool server that answers from a script: python -I -S scripted_server.py '{"METHOD": ANSWER}'.

An answer is the result of every request of a method; a text is written as it is, without an
envelope; null leaves the request without an answer. Some tools do something, whatever the script:
`leave_child` starts a process, `explode` crashes, `stay` makes the server outlive its input.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any, NoReturn

SLEEPER = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    },
    "tools/list": {
        "tools": [
            {"name": name, "inputSchema": {"type": "object"}}
            for name in ("act", "explode", "leave_child", "stay")
        ]
    },
    **json.loads(sys.argv[1]),
}


def main() -> None:
    """Answer until nobody asks any more."""
    staying = False
    for line in sys.stdin:
        request = json.loads(line)
        tool = request.get("params", {}).get("name")
        staying |= tool == "stay"
        answer = ACTIONS[tool]() if tool in ACTIONS else scripted(request)
        if isinstance(answer, dict) and "id" in request:
            kind = "error" if "code" in answer else "result"
            answer = json.dumps({"jsonrpc": "2.0", "id": request["id"], kind: answer})
        if isinstance(answer, str):
            sys.stdout.write(answer + "\n")
            sys.stdout.flush()
    while staying:
        time.sleep(600)


def scripted(request: dict[str, Any]) -> Any:
    """Look the answer up."""
    cursor = (request.get("params") or {}).get("cursor")
    return ANSWERS.get(f"{request['method']} {cursor}" if cursor else request["method"])


def leave_child() -> dict[str, Any]:
    """Start a process that is in no group or session of the server's; tell its id."""
    null = subprocess.DEVNULL
    child = subprocess.Popen(SLEEPER, start_new_session=True, stdin=null, stdout=null, stderr=null)
    return {"content": [], "structuredContent": {"result": child.pid}}


def stay() -> dict[str, Any]:
    """Tell the server's own id."""
    return {"content": [], "structuredContent": {"result": os.getpid()}}


def explode() -> NoReturn:
    """Crash."""
    sys.stderr.write("a spring came loose\n")
    sys.stderr.flush()
    os._exit(3)


ACTIONS = {"leave_child": leave_child, "stay": stay, "explode": explode}

if __name__ == "__main__":
    main()
