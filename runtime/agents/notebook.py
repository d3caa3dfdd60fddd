"""Show a run in a notebook: as HTML, and as a table for computation."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import InputError
from ...schema.values.terminal import counted, speakable

if TYPE_CHECKING:
    from .outcomes import AgentOutcome, Run


def frame_of(run: Run) -> Any:
    """Return the agents of a run as a pandas DataFrame, one a row, in Kahn order.

    Its columns: agent, status, content, error, calls, tokens, usd (USD), seconds, attempts.

    Raises:
        InputError: pandas is not installed.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        raise InputError(
            "a frame needs the package pandas. Run: python -m pip install pandas"
        ) from None
    return DataFrame([_row(agent_id, agent) for agent_id, agent in run.agents.items()])


def html_of(run: Run) -> str:
    """Return a run as HTML. Models' text is escaped, never markup."""
    facts = [run.status, counted(run.usage.calls, "call"), counted(run.usage.tokens, "token")]
    facts += [run.cost, f"{run.seconds:.1f} s", *([str(run.folder)] if run.folder else [])]
    text = run.answer if run.answer is not None else run.error or ""
    rows = [_row(agent_id, agent) for agent_id, agent in run.agents.items()]
    shown = ("agent", "status", "calls", "tokens", "seconds")
    head = "".join(f"<th>{name}</th>" for name in shown)
    body = "".join(
        f"<tr>{''.join(f'<td>{_text(row[name])}</td>' for name in shown)}</tr>" for row in rows
    )
    return (
        f"<div><p>{_text(' · '.join(facts))}</p>"
        f'<pre style="white-space: pre-wrap">{_text(text)}</pre>'
        f"<details><summary>{counted(len(rows), 'agent')}</summary>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></details></div>"
    )


def _row(agent_id: str, outcome: AgentOutcome) -> dict[str, Any]:
    return {
        "agent": agent_id,
        "status": outcome.status,
        "content": outcome.result.content if outcome.result else None,
        "error": outcome.error,
        "calls": outcome.usage.calls,
        "tokens": outcome.usage.tokens,
        "usd": outcome.usage.usd,
        "seconds": round(outcome.seconds, 3),
        "attempts": outcome.attempts,
    }


def _text(value: Any) -> str:
    return escape(speakable(str(value)))
