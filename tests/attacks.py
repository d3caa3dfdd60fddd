"""Texts that would run in a page that took them for anything but text; and a run made of them."""

# ruff: noqa: E501 - lists of short things

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
    """Return all texts, each once."""
    texts = [
        *(f"<{tag} {handler}={DEED}>" for tag, handler in itertools.product(TAGS, HANDLERS)),
        *(f"{word}<script>{DEED}</script>" for word in BREAKS),
        *(f"{word} autofocus onfocus={DEED} x=" for word in BREAKS),
        *(f"{word}<img src=x onerror={DEED}>" for word in BREAKS),
        *(f"<a href='{scheme}{DEED}'>x</a>" for scheme in SCHEMES),
        *(f"{scheme}{DEED}//" for scheme in SCHEMES),
        *TEMPLATES,
        *OTHERS,
    ]
    return [*dict.fromkeys(texts)]


def hostile_run(folder: Path, team: str) -> list[str]:
    """Write the folder of a run in which every text is an attack; give the attacks.

    Args:
        folder: Where; it exists.
        team: Its team.yaml, with the agents worker, critic and judge.
    """
    texts = attacks()
    endless = itertools.cycle(texts)
    events = [
        {"v": 1, "n": number, "t": number / 100, **event}
        for number, event in enumerate(_events(texts, endless), 1)
    ]
    lines = "".join(json.dumps(event) + "\n" for event in events)
    call = next(event["n"] for event in events if event["type"] == "model_call")
    item = endless.__next__
    value = {
        "task.json": {"id": item(), "query": item(), "context": item(), "answer": item()},
        "run.json": {
            "v": 1,
            "started": item(),
            "budget": {item(): 3, "calls": 2, "tokens": item()},
            "models": {item(): {"model": item(), "origin": item()}},
        },
        "result.json": {
            "v": 1,
            "status": "failed",
            "answer": item(),
            "said": item(),
            "error": item(),
            "seconds": 9,
            "score": {"value": 0.5, "reason": item()},
            "usage": {"calls": 1, "prompt_tokens": 1, "completion_tokens": 1},
            "agents": {
                name: {"status": item(), "error": item(), "mishaps": [item(), item()]}
                for name in ("worker", item())
            },
        },
        "blame/global.json": {
            "scheme": item(), "agent": "worker", "step": 1, "kind": item(), "text": item(), "why": item(),
            "confidence": 1, "line": f"{item()}:{call}",
            "votes": [{"agent": item(), "step": item(), "weight": 1, "by": [item(), item()]}],
        },
    }  # fmt: skip
    (folder / "blame").mkdir()
    for name, content in value.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "team.yaml").write_text(team)
    (folder / "events.jsonl").write_text(lines)
    return texts


def _events(texts: list[str], endless: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Yield every type of event, with attacks wherever it has a text."""
    item = endless.__next__
    yield {"type": "run_started", "team": item(), "task": item(), "content_hash": item()}
    yield {"type": "round_started", "round": item(), "given": [item()]}
    for name in ("worker", "critic", *texts[:20]):
        yield {"type": "agent_started", "agent": name, "round": 1, "received": [item(), "worker"]}
    for number, path in enumerate(texts):
        yield {
            "type": "model_call", "agent": "worker", "path": path, "alias": item(), "model": path,
            "messages": [{"role": path, "content": path}, {"role": item(), "content": [{"text": item()}, {"type": item()}]}],
            "text": path, "thinking": item(), "finish_reason": "length", "attempts": 2, "seconds": 0.1,
            "tool_calls": [{"name": item(), "arguments": item()}], "usage": {"calls": 1, "prompt_tokens": 1, "completion_tokens": 1},
        }  # fmt: skip
        deep: Any = path
        for _ in range(50 if number % 25 == 0 else 1):
            deep = {item(): [deep]}
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
            "agent": item(),
            "tool": item(),
            "arguments": item(),
            "error": path,
        }
    yield {"type": "model_retried", "agent": "critic", "error": item(), "wait": 1}
    yield {"type": "model_error", "agent": "critic", "path": item(), "error": item()}
    yield {"type": "model_fallback", "agent": "critic", "alias": item(), "error": item()}
    yield {
        "type": "parameter_adapted",
        "agent": "critic",
        "alias": item(),
        "asked": item(),
        "parameter": item(),
        "instead": item(),
    }
    yield {"type": "repair", "agent": "critic", "problems": [item(), item()]}
    yield {"type": "only_thought", "agent": "critic", "why": item()}
    yield {"type": "step_failed", "agent": "critic", "error": item()}
    yield {"type": "cut_off", "agent": "critic", "finish_reason": item()}
    yield {"type": "files_written", "agent": "critic", "files": [item(), item()]}
    yield {"type": "recruited", "agent": "critic", "agents": [item(), item()]}
    yield {
        "type": "message_posted",
        "agent": "critic",
        "kind": item(),
        "to": item(),
        "text": item(),
    }
    yield {"type": "agent_joined", "agent": item(), "by": item()}
    yield {"type": item(), "agent": item(), item(): item()}
    for number in (1, 2, item()):
        for name in ("worker", "critic", item()):
            yield {
                "type": "agent_finished", "agent": name, "round": number, "status": item(), "seconds": 1,
                "usage": {"prompt_tokens": 1, "completion_tokens": 1}, "content": "\n".join([item(), item()]),
                "steps": [{"step": item(), "calls": [{"name": item(), "arguments": item()}], "observations": item(), "error": item()}],
                "error": item(),
            }  # fmt: skip
    yield {"type": "rounds_ended", "why": item(), "answer_of": item()}
    yield {"type": "run_finished", "status": item(), "error": item(), "seconds": 9}
