"""`mas dev export`: what is refused, what is told to be lost, and what is written."""

from pathlib import Path

import pytest

from coterie.runtime.command.export import main
from coterie.runtime.export import portable
from coterie.schema.loading.seeds import seed_files

from ...support.commands import CommandResult, invoked

MODEL = ("--model", "openai/gpt-4o-mini")
LOSSY = """\
name: pair
constitution: Be kind.
defaults: {timeout: 20}
agents:
  solver: {prompt: Solve it.}
  second: {prompt: Solve it again.}
  judge: {prompt: Choose one., output_schema: {type: array}}
topology:
  reports_to: {solver: [second, judge], second: [judge]}
execution: {on_error: degrade}
"""


def export(folder: Path, text: str, *words: str) -> CommandResult:
    (folder / "team.yaml").write_text(text, encoding="utf-8")
    return invoked(main, [str(folder / "team.yaml"), *words], "mas dev export")


def told(result: CommandResult) -> list[str]:
    lines = [line for line in result.err.splitlines() if line.partition(":")[0].endswith(".yaml")]
    return [line.partition("team.yaml:")[2] for line in lines]


def test_what_is_lost_is_told_with_its_place(tmp_path: Path) -> None:
    result = export(tmp_path, LOSSY, "--to", "docker-agent", *MODEL).ended(0)
    assert result.out.startswith("# pair, written by `mas dev export`")
    assert told(result) == [
        "2:15: warning: constitution: has no counterpart: it is copied into the instruction of each"
        " agent.",
        "3:21: warning: defaults.timeout: has no counterpart: docker-agent has no time limit for an"
        " agent.",
        "5:11: warning: agents.solver: has no counterpart: docker-agent runs it again for each of"
        " second, judge.",
        "7:47: warning: agents.judge.output_schema: has no counterpart: docker-agent enforces only"
        " objects with properties.",
        "10:23: warning: execution.on_error: has no counterpart: in docker-agent, the run fails if"
        " an agent fails.",
    ]


def test_nothing_of_that_is_lost_in_langgraph(tmp_path: Path) -> None:
    assert told(export(tmp_path, LOSSY, "--to", "langgraph", *MODEL)) == []


BOTH = ("langgraph", "docker-agent")


@pytest.mark.parametrize(
    ("targets", "agent", "rest", "says"),
    [
        (BOTH[:1], "{agent_type: CodeAgent, prompt: Look.}", "", "no counterpart for a CodeAgent"),
        (
            BOTH[1:],
            "{agent_type: Function, function: majority}",
            "",
            "no counterpart for a Function",
        ),
        (
            BOTH,
            "{agent_type: ToolCallingAgent, prompt: Look., tools: [weekday]}",
            "",
            "2:67: error: agents.a.tools[0]: only list_files, read_file, search_text and tools of",
        ),
        (BOTH[1:], "{prompt: Say.}", "execution: {rounds: {most: 2}}\n", "runs each agent once"),
        (
            BOTH[:1],
            "{prompt: Say., output_schema: {type: object, properties: {increment: {type: array}}}}",
            "execution: {rounds: {most: 2, until: converged}}\n",
            "3:38: error: execution.rounds.until: converged cannot be exported. Use one of: never,",
        ),
    ],
)
def test_what_others_cannot_do_is_refused(
    tmp_path: Path, targets: tuple[str, ...], agent: str, rest: str, says: str
) -> None:
    (tmp_path / "tools.py").write_text('def weekday() -> str:\n    """Tell it."""\n    return ""\n')
    (tmp_path / "tools.yaml").write_text("python: tools.py:weekday\n")
    text = f"name: t\nagents: {{a: {agent}, b: {{prompt: Say.}}}}\n{rest}"
    text += "topology: {reports_to: {b: [a]}}\n"
    for target in targets:
        tools = ("--tools", str(tmp_path / "tools.yaml"))
        result = export(tmp_path, text, "--to", target, *tools, *MODEL)
        assert (result.code, result.out) == (2, "")
        assert says in result.err


def test_an_unknown_field_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {kind: names - {"temperature", "most"} for kind, names in portable.WRITTEN.items()}
    monkeypatch.setattr(portable, "WRITTEN", known)
    text = "name: t\nagents: {a: {prompt: Say., temperature: 1}, b: {prompt: Say.}}\n"
    text += "topology: {reports_to: {a: [b]}}\nexecution: {rounds: {most: 3}}\n"
    result = export(tmp_path, text, "--to", "langgraph", *MODEL).ended(2)
    assert "2:41: error: agents.a.temperature: it cannot be exported." in result.err
    assert "execution.rounds.most: it cannot be exported" in result.err
    assert "agents.b" not in result.err


EXPORTED = {
    "langgraph": {
        "debate", "debate_3", "direct", "majority_vote_3", "seats_debate", "seats_decompose",
        "seats_generator_critic", "seats_voting", "translate_and_calculate", "write_and_revise",
    },
    "docker-agent": {
        "chatdev", "code_repair", "croto", "debate", "debate_3", "direct", "majority_vote",
        "metagpt", "peer_review", "seats_decompose", "seats_generator_critic", "single_agent",
        "smoa",
    },
}  # fmt: skip


@pytest.mark.parametrize("target", BOTH)
def test_these_seeds_are_exported(target: str) -> None:
    codes = {
        name: invoked(main, [f"seed:{name}", "--to", target, *MODEL], "mas dev export").code
        for name in seed_files()
    }
    assert {name for name, code in codes.items() if code == 0} == EXPORTED[target]
    assert {*codes.values()} == {0, 2}


def test_a_model_of_nobody_else_is_refused(tmp_path: Path) -> None:
    result = export(
        tmp_path, "name: t\nagents: {a: {prompt: Say it.}}\n", "--to", "langgraph"
    ).ended(2)
    assert "'default' is the embedded model, which only coterie can call. Replace" in result.err


@pytest.mark.parametrize(("target", "name"), [("langgraph", "reports"), ("docker-agent", "root")])
def test_names_with_a_meaning_there_are_refused(tmp_path: Path, target: str, name: str) -> None:
    text = f"""\
name: t
agents: {{{name}: {{prompt: Say it.}}, b: {{prompt: Judge it.}}}}
topology: {{reports_to: {{{name}: [b]}}}}
"""
    result = export(tmp_path, text, "--to", target, *MODEL).ended(2)
    assert f"agents.{name}: " in result.err
    assert "Rename it" in result.err.replace("\n", " ")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "graph.py"
    words = ("--to", "langgraph", "-o", str(file), *MODEL)
    text = "name: t\nagents: {a: {prompt: Say it.}}\n"
    assert export(tmp_path, text, *words).out == f"{file}\n"
    before = file.read_text("utf-8")
    result = export(tmp_path, text.replace("Say", "Sing"), *words).ended(2)
    assert "already exists" in result.err
    assert file.read_text("utf-8") == before


def test_a_team_that_does_not_load_is_told_as_ever(tmp_path: Path) -> None:
    result = export(
        tmp_path, "name: t\nagents: {a: {prompt: 3}}\n", "--to", "langgraph", *MODEL
    ).ended(2)
    assert "2:22: error: agents.a.prompt: 3 is not text" in result.err


MODELS = """\
models:
  default:
    model: openai/m
    fallback: [spare]
    thinking_tokens: 1024
    body: {frequency_penalty: 0.5, seed_of: 1}
    header_env: {X-Token: TOKEN}
  spare: {model: openai/n}
"""


@pytest.mark.parametrize(
    ("target", "lost"),
    [
        ("langgraph", ["fallback", "header_env", "thinking_tokens"]),
        ("docker-agent", ["body", "fallback", "header_env"]),
    ],
)
def test_what_is_lost_of_models_is_told(tmp_path: Path, target: str, lost: list[str]) -> None:
    (tmp_path / "models.yaml").write_text(MODELS, encoding="utf-8")
    text = "name: t\nagents: {a: {prompt: Say it.}, b: {prompt: Judge it.}}\n"
    text += "topology: {reports_to: {a: [b]}}\n"
    words = ("--to", target, "--models", str(tmp_path / "models.yaml"))
    result = export(tmp_path, text, *words)
    assert [line.split("has no counterpart: ")[1].split()[0] for line in told(result)] == lost
    assert "frequency_penalty" in result.out


def test_a_model_at_nobodys_address_is_refused(tmp_path: Path) -> None:
    text = "name: t\nagents: {a: {prompt: Say it.}}\n"
    result = export(tmp_path, text, "--to", "docker-agent", "--model", "replicate/m").ended(2)
    assert "'default' is replicate/m, which only coterie can call" in result.err


def test_a_place_that_is_none_is_told(tmp_path: Path) -> None:
    text = "name: t\nagents: {a: {prompt: Say it.}}\n"
    words = ("--to", "langgraph", "-o", str(tmp_path / "none" / "x.py"), *MODEL)
    result = export(tmp_path, text, *words).ended(2)
    assert "cannot be written" in result.err


TOOLS = """\
servers:
  clock: {command: [npx, clock], env: [KEY], tools: [now]}
  wiki: {url: "https://w.example/mcp", key_env: W, headers_env: {X-T: T}, tools: [find]}
  bare: {url: "https://b.example/mcp", tools: [go]}
"""


def test_servers_are_reached_by_variables_that_are_named(tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text(TOOLS)
    text = "name: t\nagents: {a: {agent_type: ToolCallingAgent, prompt: Look., tools: [clock.now,"
    text += " wiki.find, bare.go]}}\n"
    words = ("--tools", str(tmp_path / "tools.yaml"), *MODEL)
    program = export(tmp_path, text, "--to", "langgraph", *words).out
    assert "'env': {'KEY': '$KEY'}" in program
    assert "'headers': {'X-T': '$T', 'Authorization': 'Bearer $W'}" in program
    there = export(tmp_path, text, "--to", "docker-agent", *words).out
    assert "Authorization: Bearer ${env.W}" in there
    assert 'KEY: "${KEY}"' in there
