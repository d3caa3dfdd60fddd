"""Rules that the shape of a team file cannot express."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.runtime.scoring import functions
from coterie.schema import Catalogue, ConfigError, HostTools, ToolServer, load_team, parse_team
from coterie.schema.host import catalogue as catalogue_module
from coterie.schema.values.entries import EntryPoint

from ..strategies import CATALOGUE

DIAMOND = """\
name: diamond
agents:
  start: {prompt: "Plan it."}
  left: {prompt: "Do it."}
  right: {prompt: "Do it."}
  end: {prompt: "Judge it."}
topology:
  reports_to:
    start: [left, right]
    left: [end]
    right: [end]
"""


def problems(text: str, catalogue: Catalogue = CATALOGUE) -> list[str]:
    """What is told of a team file, without the file's name."""
    try:
        parse_team(text.encode(), "t", catalogue)
    except ConfigError as error:
        return [str(problem).removeprefix("t:") for problem in error.problems]
    return []


def test_every_output_reaches_the_last_agent() -> None:
    assert problems(DIAMOND) == []


def test_an_agent_after_the_output_works_for_nothing() -> None:
    assert problems(f"{DIAMOND}  output: left\n") == [
        f"{line}:3: error: agents.{lost}: its output does not reach the output agent,"
        " 'left'. Let it report to an agent that does, or leave it out."
        for line, lost in ((5, "right"), (6, "end"))
    ]


CONTEXT_ALL = """\
name: talk
agents:
  first: {prompt: "Speak up."}
  second: {prompt: "Speak up."}
  third: {prompt: "Sum up."}
  fourth: {prompt: "Sum up."}
topology:
  reports_to:
    first: [third, fourth]
execution: {context: all}
"""


def test_where_all_see_all_an_earlier_level_needs_no_edge() -> None:
    text = CONTEXT_ALL.replace("third, fourth", "third").replace(
        '  fourth: {prompt: "Sum up."}\n', ""
    )
    assert problems(text) == []
    assert parse_team(text.encode(), "t", CATALOGUE).output == "third"


def test_where_all_see_all_nobody_sees_who_stands_beside_the_output() -> None:
    assert problems(CONTEXT_ALL) == [
        "6:3: error: agents.fourth: its output does not reach the output agent, 'third'."
        " Let it report to an agent that does, or leave it out."
    ]


def test_a_fault_elsewhere_hides_no_fault_of_the_graph() -> None:
    text = DIAMOND.replace("    left: [end]\n", "") + "execution: {timeout: 0}\n"
    assert [line.split(": ")[2] for line in problems(text)] == ["topology", "execution.timeout"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("left: [end]", "left: [ned]"),
        ("left: [end]", "left: end"),
        ("left: [end]", "left:"),
        ("reports_to:", "report_to:"),
        ("topology:", "edges:"),
        ('left: {prompt: "Do it."}', "left: 5"),
        ('left: {prompt: "Do it."}', "left: {max_tokens: many}"),
        ('left: {prompt: "Do it."}', "left:"),
        ("diamond\n", "diamond\nexecution: {context: al}\n"),
    ],
)
def test_one_mistake_is_one_problem(old: str, new: str) -> None:
    assert old in DIAMOND
    assert len(problems(DIAMOND.replace(old, new, 1))) == 1


def test_agents_that_cannot_be_told_apart_from_a_list_are_no_agents() -> None:
    texts = problems("name: t\nagents: [a, b]\ntopology: {reports_to: {a: [b]}}\n")
    assert len(texts) == 1
    assert texts[0].startswith('2:9: error: agents: ["a", "b"] is not a mapping. Write a mapping')


def agent(fields: str) -> str:
    return f"name: t\nagents:\n  a: {{{fields}}}\n"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            "agent_type: Function, function: majorty",
            "3:39: error: agents.a.function: no function 'majorty'. Did you mean 'majority'?",
        ),
        (
            "agent_type: Function, function: average_of_all",
            "3:39: error: agents.a.function: no function 'average_of_all'. Known: calculate,"
            " concat, extract_json, majority, vote.",
        ),
        (
            "agent_type: llm, prompt: Be brief.",
            "3:19: error: agents.a.agent_type: no agent type 'llm'. Did you mean 'LLM'?",
        ),
        (
            "agent_type: Robot, prompt: Be brief.",
            "3:19: error: agents.a.agent_type: no agent type 'Robot'. Known: CodeAgent,"
            " DefaultAgent, Function, LLM, Person, SWEAgent, ToolCallingAgent.",
        ),
        (
            "agent_type: Robot, backend: llm, prompt: Be brief.",
            "3:19: error: agents.a.agent_type: the backend llm runs agents of type LLM, not"
            " 'Robot'.",
        ),
        ("role: judge", "3:3: error: agents.a: an agent of type LLM needs a prompt."),
        ("backend: llm", "3:16: error: agents.a.backend: an agent of type LLM needs a prompt."),
        (
            "agent_type: LLM",
            "3:19: error: agents.a.agent_type: an agent of type LLM needs a prompt.",
        ),
        (
            "prompt: prompts/solve",
            "3:15: error: agents.a.prompt: 'prompts/solve' looks like a file name. Write the id of"
            " a prompt file, for instance solve_step_by_step, or the text itself.",
        ),
    ],
)
def test_an_agent_that_cannot_run_is_refused(fields: str, message: str) -> None:
    assert problems(agent(fields)) == [message]


def test_a_team_may_have_backends_of_its_own() -> None:
    text = """\
name: t
backend: function
agents: {a: {function: majority}, b: {backend: llm, prompt: Count it.}}
topology: {reports_to: {b: [a]}}
"""
    assert problems(text) == []


VOTE = """\
name: vote
agents:
  first: {prompt: Answer it.}
  count: {agent_type: Function, function: %s}
  last: {prompt: Tell it.}
topology:
  reports_to: {first: [last], count: [last]}
"""


@pytest.mark.parametrize("function", ["calculate", "concat", "extract_json", "majority", "vote"])
def test_a_function_that_nobody_reports_to_does_not_load(function: str) -> None:
    assert problems(VOTE % function) == [
        f"4:43: error: agents.count.function: {function} works on colleagues' reports, but no"
        " agent reports to this one. Let an agent report to it, under topology.reports_to, or"
        " leave it out."
    ]
    heard = VOTE.replace("first: [last]", "first: [count]")
    assert problems(heard % function) == []


def test_a_function_may_say_that_it_needs_no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions.majority, "needs_reports", False, raising=False)
    assert problems(VOTE % "majority") == []


def test_an_unimportable_function_is_its_agents_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint(group="functions", name="count", value="no_such_module:count")
    there = catalogue_module.installed

    def points(group: str) -> Mapping[str, EntryPoint]:
        return {"count": broken} if group == "functions" else there(group)

    monkeypatch.setattr(catalogue_module, "installed", points)
    known = replace(CATALOGUE, functions=frozenset({"count"}))
    [problem] = problems(VOTE % "count", known)
    assert "count (no_such_module:count) cannot be imported" in problem


def test_an_unimportable_backend_is_its_agents_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint(group="runners", name="llm", value="no_such_module:Runner")
    points: Mapping[str, EntryPoint] = {"llm": broken}
    monkeypatch.setattr(catalogue_module, "installed", lambda _: points)
    assert problems(agent("agent_type: LLM, prompt: Be brief.")) == [
        "3:19: error: agents.a.agent_type: llm (no_such_module:Runner) cannot be imported: No"
        " module named 'no_such_module'. Install what is missing."
    ]


@pytest.mark.parametrize(
    ("tools", "texts"),
    [
        ("read_file, disk.list", []),
        (
            "read_file, read.file",
            [
                "3:68: error: agents.a.tools[1]: for a model, 'read.file' and read_file are both"
                " called read_file. Grant one of them, or rename the server in tools.yaml."
            ],
        ),
        (
            "final.answer",
            [
                "3:57: error: agents.a.tools[0]: for a model, 'final.answer' and the answer itself"
                " are both called final_answer. Grant one of them, or rename the server in"
                " tools.yaml."
            ],
        ),
    ],
)
def test_a_model_can_tell_its_tools_apart(tools: str, texts: list[str]) -> None:
    served = {"disk": "list", "final": "answer", "read": "file"}
    servers = {
        name: ToolServer(name=name, command=("serve",), tools=(tool,))
        for name, tool in served.items()
    }
    known = Catalogue.of_host(host_tools=HostTools(servers=servers))
    assert problems(
        agent(f"agent_type: CodeAgent, prompt: Be brief., tools: [{tools}]"), known
    ) == (texts)


@pytest.fixture
def prompt_file(tmp_path: Path) -> Path:
    (tmp_path / "team.yaml").write_text(agent("prompt: greet"))
    (tmp_path / "prompts").mkdir()
    return tmp_path / "prompts" / "greet.md"


def told_of(team: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_team(team)
    (problem,) = caught.value.problems
    assert (problem.place.line, problem.place.column) == (3, 15)
    return problem.message


def test_a_prompt_file_beside_the_team_is_found(prompt_file: Path, tmp_path: Path) -> None:
    prompt_file.write_text("Say hello.")
    assert load_team(tmp_path / "team.yaml").agents["a"].prompt == "greet"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "the prompt file greet.md cannot be read: it is not UTF-8 text."),
        (b"", "the prompt file greet.md has 0 characters; a prompt has 1 to 65536."),
        (
            b"---\nversion: 1\n---\n",
            "the prompt file greet.md has 0 characters; a prompt has 1 to 65536.",
        ),
        (b"x" * 65_537, "the prompt file greet.md has 65537 characters; a prompt has 1 to 65536."),
        (
            b"Use sk-" + b"abcd1234" * 4,
            "the prompt file greet.md: this looks like a secret key. Keep keys in the environment:"
            " models.yaml names the variable (key_env).",
        ),
    ],
)
def test_a_prompt_file_that_cannot_be_used_is_a_problem(
    prompt_file: Path, tmp_path: Path, content: bytes, message: str
) -> None:
    prompt_file.write_bytes(content)
    assert told_of(tmp_path / "team.yaml") == message
