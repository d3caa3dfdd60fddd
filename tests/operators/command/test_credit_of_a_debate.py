"""`difference` on 19 agents pays for those who hear the silenced one, and for nobody else."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from coterie.operators.command.op.command import main
from coterie.runtime.command.run import main as run_main
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.runtime.record.journal import recorded
from coterie.schema import Team, load_team

from ...support.commands import invoked

TASK = {"id": "t", "query": "Who is right?", "answer": "they", "scorer": {"name": "contains"}}


def debating(request: Request) -> Reply:
    """Whose words change is who hears somebody whose words changed.

    A debater of the second round looks at files first.
    """
    text = message_text(request)
    words = hashlib.sha256(text.encode()).hexdigest()[:12]
    tools = {tool["function"]["name"] for tool in request.get("tools", ())}
    if "final_answer" not in tools:
        return Reply(text=f"they: {words}")
    if "second-" in text:
        return Reply.tool("final_answer", answer=f"third-{words}")
    if "first-" not in text:
        return Reply.tool("final_answer", answer=f"first-{words}")
    if any(message["role"] == "assistant" for message in request["messages"]):
        return Reply.tool("final_answer", answer=f"second-{words}")
    return Reply.tool("list_files")


def downstream(team: Team, agent: str) -> set[str]:
    """Name all whom an agent's words can reach."""
    texts, waiting = set[str](), [agent]
    while waiting:
        new = {*team.reports_to.get(waiting.pop(), ())} - texts
        texts |= new
        waiting += new
    return texts


def test_calls_are_exact_agent_by_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    Path("task.json").write_text(json.dumps(TASK))
    with ScriptedModel(debating) as model:
        chosen = ["--model", f"m@{model.api_base}"]
        words = ["seed:debate", "task.json", *chosen, "--quiet"]
        assert invoked(run_main, words, "mas-run").code == 0
        factual = len(model.calls)
        [run] = Path("runs").iterdir()
        words = ["credit", str(run), "--workers", "1", "--json", "--quiet", *chosen]
        result = invoked(main, words, "mas dev op").ended(0)
        ledger = [call.text for call in model.calls[factual:]]
        again = invoked(main, words, "mas dev op")
        assert len(model.calls) == factual + len(ledger)
    team = load_team(run / "team.yaml")
    said = json.loads((run / "result.json").read_text())["agents"]
    calls = {item: said[item]["usage"]["calls"] for item in team.agents}
    assert Counter(calls.values()) == {1: 13, 2: 6}  # the second round's look at files first
    players = result.json["players"]
    assert [player["agent"] for player in players] == [
        item for item in team.agents if item != team.output
    ]
    for entry in players:
        agent = entry["agent"]
        asked = sum(calls[hears] for hears in downstream(team, agent))
        needed = sum(calls.values()) - calls[agent]
        assert entry["calls"] == {"asked": asked, "answered": needed - asked}, agent
        share, ledger = ledger[:asked], ledger[asked:]  # one run after the other, in this order
        assert not [text for text in share if said[agent]["content"] in text], agent
    assert not ledger
    assert result.json["calls"]["asked"] == sum(player["calls"]["asked"] for player in players)
    assert result.json == again.json
    done_again = Counter(path.split("/")[0] for path, _ in recorded(run / "credit", "tool"))
    assert sum(done_again.values()) == 6 * 6  # tools of whoever hears the silenced, six times each
