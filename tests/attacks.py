"""Texts that would run in a page that took them for anything but text; and a run made of them."""

# ruff: noqa: E501 - lists of short things

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEED = "window.hacked=1"
"""What an attack that works would do."""

TAGS = (
    "img src=x",
    "svg",
    "body",
    "iframe",
    "video src=x",
    "details open",
    "input autofocus",
    "a href=x",
)
HANDLERS = (
    "onerror",
    "onload",
    "onfocus",
    "ontoggle",
    "onclick",
    "onmouseover",
    "onanimationstart",
    "onpointerenter",
    "onbegin",
)
BREAKS = (
    "", '"', "'", "`", '">', "'>", "-->", "]]>", "</title>", "</style>", "</script>", "</textarea>",
    "</pre>", "</details>", "</svg>", "</template>", "</noscript>", "\x00", "\u2028",
)  # fmt: skip
SCHEMES = (
    "javascript:", "JaVaScRiPt:", " javascript:", "java\tscript:", "java\nscript:", "\x01javascript:",
    "javascript&colon;", "data:text/html,", "data:text/html;base64,", "vbscript:", "blob:", "file:///",
    "//127.0.0.1:1/", "http://127.0.0.1:1/", "https://127.0.0.1:1/",
)  # fmt: skip
TEMPLATES = (
    "{{ 7*7 }}", "{% raw %}", "{% include '/etc/passwd' %}", "{{ config }}", "${7*7}", "#{7*7}", "<%= 7*7 %>",
    "{{ ''.__class__.__mro__ }}", "{# comment #}", "{{ links.to('x') }}", "{{ '<b>'|safe }}", "%s %(a)s {0}",
)  # fmt: skip
OTHERS = (
    "<!--", "<!-- --!>", "<![CDATA[", "<?xml version='1.0'?>", "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///'>]>",
    "<plaintext>", "<base href=//127.0.0.1:1/>", "<meta http-equiv=refresh content='0;url=//127.0.0.1:1'>",
    "<link rel=stylesheet href=//127.0.0.1:1/x.css>", "<style>*{background:url(//127.0.0.1:1)}</style>",
    "<form action=//127.0.0.1:1><input name=q>", "<object data=x>", "<embed src=x>", "<math><mtext></mtext>",
    "<svg><animate onbegin=window.hacked=1 attributeName=x>", "<svg><use href='data:image/svg+xml,x#x'/>",
    "<a id=search><a id=search name=form>", "<img name=getElementById>", "<p id=content>", "<x data-live=//1>",
    "<section data-tabs=x><p data-tab=y>", "&lt;script&gt;", "&#60;script&#62;", "\\u003cscript\\u003e",
    "%3Cscript%3E", "+ADw-script+AD4-", "\u202egnp.exe\u202c", "\u2066\u2069\u200b\ufeff", "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07", "\ud800", "a\u0300" * 50, "\U0001f469\u200d\U0001f469", "\u0000\u0008\u007f", "{" * 300,
    "[" * 300, "a" * 3_000, "\n" * 60, "\t" * 60, "\r\r\r", "__proto__", "constructor", "<\u200bscript>", "\uff1cscript\uff1e",
)  # fmt: skip


def attacks() -> list[str]:
    """Give all texts, each once."""
    found = [
        *(f"<{tag} {handler}={DEED}>" for tag, handler in itertools.product(TAGS, HANDLERS)),
        *(f"{one}<script>{DEED}</script>" for one in BREAKS),
        *(f"{one} autofocus onfocus={DEED} x=" for one in BREAKS),
        *(f"{one}<img src=x onerror={DEED}>" for one in BREAKS),
        *(f"<a href='{one}{DEED}'>x</a>" for one in SCHEMES),
        *(f"{one}{DEED}//" for one in SCHEMES),
        *TEMPLATES,
        *OTHERS,
    ]
    return [*dict.fromkeys(found)]


def hostile_run(folder: Path, team: str) -> list[str]:
    """Write the folder of a run in which every text is an attack; give the attacks.

    Args:
        folder: Where; it exists.
        team: Its team.yaml, with the agents worker, critic and judge.
    """
    found = attacks()
    endless = itertools.cycle(found)
    events = [
        {"v": 1, "n": number, "t": number / 100, **event}
        for number, event in enumerate(_events(found, endless), 1)
    ]
    lines = "".join(json.dumps(one) + "\n" for one in events)
    call = next(one["n"] for one in events if one["type"] == "model_call")
    one = endless.__next__
    value = {
        "task.json": {"id": one(), "query": one(), "context": one(), "answer": one()},
        "run.json": {
            "v": 1,
            "started": one(),
            "budget": {one(): 3, "calls": 2, "tokens": one()},
            "models": {one(): {"model": one(), "origin": one()}},
        },
        "result.json": {
            "v": 1,
            "status": "failed",
            "answer": one(),
            "said": one(),
            "error": one(),
            "seconds": 9,
            "score": {"value": 0.5, "reason": one()},
            "usage": {"calls": 1, "prompt_tokens": 1, "completion_tokens": 1},
            "agents": {
                name: {"status": one(), "error": one(), "mishaps": [one(), one()]}
                for name in ("worker", one())
            },
        },
        "blame/global.json": {
            "scheme": one(), "agent": "worker", "step": 1, "kind": one(), "text": one(), "why": one(),
            "confidence": 1, "line": f"{one()}:{call}",
            "votes": [{"agent": one(), "step": one(), "weight": 1, "by": [one(), one()]}],
        },
    }  # fmt: skip
    (folder / "blame").mkdir()
    for name, content in value.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "team.yaml").write_text(team)
    (folder / "events.jsonl").write_text(lines)
    return found


def _events(found: list[str], endless: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Give every type of event, with attacks wherever it has a text."""
    one = endless.__next__
    yield {"type": "run_started", "team": one(), "task": one(), "content_hash": one()}
    yield {"type": "round_started", "round": one(), "given": [one()]}
    for name in ("worker", "critic", *found[:20]):
        yield {"type": "agent_started", "agent": name, "round": 1, "received": [one(), "worker"]}
    for number, path in enumerate(found):
        yield {
            "type": "model_call", "agent": "worker", "path": path, "alias": one(), "model": path,
            "messages": [{"role": path, "content": path}, {"role": one(), "content": [{"text": one()}, {"type": one()}]}],
            "text": path, "thinking": one(), "finish_reason": "length", "attempts": 2, "seconds": 0.1,
            "tool_calls": [{"name": one(), "arguments": one()}], "usage": {"calls": 1, "prompt_tokens": 1, "completion_tokens": 1},
        }  # fmt: skip
        deep: Any = path
        for _ in range(50 if number % 25 == 0 else 1):
            deep = {one(): [deep]}
        yield {
            "type": "tool_call",
            "agent": "critic",
            "tool": path,
            "arguments": deep,
            "result": path,
            "seconds": 1,
        }
        yield {
            "type": "tool_call",
            "agent": one(),
            "tool": one(),
            "arguments": one(),
            "error": path,
        }
    yield {"type": "model_retried", "agent": "critic", "error": one(), "wait": 1}
    yield {"type": "model_error", "agent": "critic", "path": one(), "error": one()}
    yield {"type": "model_fallback", "agent": "critic", "alias": one(), "error": one()}
    yield {
        "type": "parameter_adapted",
        "agent": "critic",
        "alias": one(),
        "asked": one(),
        "parameter": one(),
        "instead": one(),
    }
    yield {"type": "repair", "agent": "critic", "problems": [one(), one()]}
    yield {"type": "only_thought", "agent": "critic", "why": one()}
    yield {"type": "step_failed", "agent": "critic", "error": one()}
    yield {"type": "cut_off", "agent": "critic", "finish_reason": one()}
    yield {"type": "files_written", "agent": "critic", "files": [one(), one()]}
    yield {"type": "recruited", "agent": "critic", "agents": [one(), one()]}
    yield {"type": "message_posted", "agent": "critic", "kind": one(), "to": one(), "text": one()}
    yield {"type": "agent_joined", "agent": one(), "by": one()}
    yield {"type": one(), "agent": one(), one(): one()}
    for number in (1, 2, one()):
        for name in ("worker", "critic", one()):
            yield {
                "type": "agent_finished", "agent": name, "round": number, "status": one(), "seconds": 1,
                "usage": {"prompt_tokens": 1, "completion_tokens": 1}, "content": "\n".join([one(), one()]),
                "steps": [{"step": one(), "calls": [{"name": one(), "arguments": one()}], "observations": one(), "error": one()}],
                "error": one(),
            }  # fmt: skip
    yield {"type": "rounds_ended", "why": one(), "answer_of": one()}
    yield {"type": "run_finished", "status": one(), "error": one(), "seconds": 9}
