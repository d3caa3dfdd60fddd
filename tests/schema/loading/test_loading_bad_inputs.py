"""Sixty-three ways in which files go wrong, and what the user is told.

The numbers go through in order: A YAML (1 to 29), B graph (30 to 39), C values (40 to 54), D task
files (55 to 63). A problem stands at the value that is wrong, or at the key that does not belong.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from coterie.schema import load_task, load_team
from coterie.schema.command.validate import main

from ...support.commands import ran
from ...support.problems import problems_of

GOOD = """\
name: vote
agents:
  w1: {prompt: "Solve it."}
  w2: {prompt: "Solve it."}
  boss: {prompt: "Pick one."}
topology:
  reports_to:
    w1: [boss]
    w2: [boss]
"""
KEY = "sk-" + "proj-0123456789abcdefghijklmnop"


def having(old: str, new: str) -> str:
    """The good team with one thing replaced."""
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def boss(fields: str) -> str:
    """The good team, whose boss has more fields: they begin at 5:10."""
    return having('boss: {prompt: "Pick one."}', f'boss: {{{fields}, prompt: "Pick one."}}')


def run(field: str) -> str:
    """The good team with a field of execution: its name begins at 10:13."""
    return f"{GOOD}execution: {{{field}}}\n"


def task(fields: str) -> str:
    """A task with more fields: they begin at 1:27."""
    return f'{{"id": "t", "query": "q", {fields}}}'


@dataclass(frozen=True, kw_only=True)
class Case:
    """A bad file. An int as its content is the size of a file of zeros."""

    number: int
    name: str
    content: str | bytes | int
    texts: Sequence[str]
    file: str
    options: Sequence[str]


def bad(
    number: int,
    name: str,
    content: str | bytes | int,
    *message: str,
    file: str = "team.yaml",
    options: Sequence[str] = (),
) -> Case:
    return Case(
        number=number, name=name, content=content, texts=message, file=file, options=options
    )


def bad_task(number: int, name: str, content: str | bytes | int, *message: str) -> Case:
    return bad(number, name, content, *message, file="task.json")


WRITE_IT_OUT = "Anchors and aliases are not supported: write the value where it is needed."
ID = "an id: a lower-case letter, then lower-case letters, digits or _, at most 64 characters"
PATH = "a relative path, with / between its parts and without .. among them"
SECRET = (
    "this looks like a secret key. Keep keys in the environment: models.yaml names the variable"
    " (key_env)."
)
TEAM_FIELDS = (
    "name, description, backend, constitution, defaults, agents, topology, execution,"
    " successful_tasks, lineage"
)


def bomb(levels: int) -> str:
    """A list whose items double in size, each an alias of the one before, twice."""
    lists = "".join(f"      - &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, levels))
    return (
        "name: vote\nagents:\n  boss:\n    prompt: Pick one.\n    output_schema:\n      enum:\n"
        f"      - &a0 [x, x]\n{lists}"
    )


def bomb_problems(levels: int) -> list[str]:
    enum = "agents.boss.output_schema.enum"
    return [
        *(f"{7 + i}:9: error: {enum}[{i}]: anchor &a{i}. {WRITE_IT_OUT}" for i in range(levels)),
        *(
            f"{7 + i}:{14 + 5 * j}: error: {enum}[{i}][{j}]: alias *a{i - 1}. {WRITE_IT_OUT}"
            for i in range(1, levels)
            for j in range(2)
        ),
    ]


YAML = (
    bad(1, "empty file", "", "1:1: error: the file is empty."),
    bad(2, "only comments", "# a team\n# to come\n", "1:1: error: the file is empty."),
    bad(
        3, "scalar at the top", "vote",
        "1:1: error: 'vote' is not a mapping. Write a mapping with name and agents.",
    ),
    bad(
        4, "list at the top", "- name: vote\n- agents\n",
        '1:1: error: [{"name": "vote"}, "agents"] is not a mapping. Write a mapping with name and'
        " agents.",
    ),
    bad(
        5, "two documents", GOOD + "---\n" + GOOD,
        "10:1: error: a second document begins here. Keep one per file.",
    ),
    bad(
        6, "tab as indentation", "name: vote\nagents:\n\tw1: {}\n",
        "3:1: error: a tab cannot indent YAML. Use spaces.",
    ),
    bad(
        7, "duplicate key", having("name: vote\n", "name: vote\nname: poll\n"),
        "2:1: error: name: duplicate key 'name', first at 1:1. Keep one.",
    ),
    bad(
        8, "duplicate agent", having("  w2: {", "  w1: {prompt: A b.}\n  w2: {"),
        "4:3: error: agents.w1: duplicate key 'w1', first at 3:3. Keep one.",
    ),
    bad(
        9, "anchor and alias",
        having("w1: {", "w1: &w {").replace('w2: {prompt: "Solve it."}', "w2: *w"),
        f"3:7: error: agents.w1: anchor &w. {WRITE_IT_OUT}",
        f"4:7: error: agents.w2: alias *w. {WRITE_IT_OUT}",
    ),
    bad(10, "alias bomb", bomb(9), *bomb_problems(9)),
    bad(
        11, "alias of itself", GOOD + "description: &a [*a]\n",
        f"10:14: error: description: anchor &a. {WRITE_IT_OUT}",
        f"10:18: error: description[0]: alias *a. {WRITE_IT_OUT}",
    ),
    bad(
        12, "merge key", boss("<<: {role: chief}"),
        f"5:10: error: agents.boss: merge key <<. {WRITE_IT_OUT}",
    ),
    bad(
        13, "Python tag", having("name: vote", "name: !!python/object/apply:os.system [ls]"),
        "1:7: error: name: tag !!python/object/apply:os.system. Tags are not supported: remove it.",
    ),
    bad(
        14, "unknown tag", having("name: vote", "name: !env NAME"),
        "1:7: error: name: tag !env. Tags are not supported: remove it.",
    ),
    bad(
        15, "2,000 levels", "name: " + "[" * 2000 + "]" * 2000,
        "1:38: error: nested deeper than 32 levels. Flatten it.",
    ),
    bad(
        16, "10 MB scalar", GOOD + "description: " + "x" * 10_000_000,
        "1:1: error: the file is larger than 1048576 bytes. Shorten it.",
    ),
    bad(
        17, "100,000 items on one line", GOOD + f"description: [{'a,' * 100_000}]",
        "10:39957: error: more than 20000 values in one file. Keep fewer in it.",
    ),
    bad(
        18, "not UTF-8", having("Solve", "L\xf6se").encode("latin-1"),
        "3:18: error: the byte 0xf6 is not UTF-8. Save the file as UTF-8.",
    ),
    bad(
        19, "UTF-16", GOOD.encode("utf-16"),
        "1:1: error: the file is UTF-16. Save it as UTF-8.",
    ),
    bad(
        20, "NUL in the file", having("Solve", "Sol\0ve"),
        "3:20: error: control character U+0000 in the file. Remove it.",
    ),
    bad(
        20, "escape character in a text", having("Solve", r"Sol\eve"),
        "3:16: error: agents.w1.prompt: control character U+001B in a text. Remove it.",
    ),
    bad(
        21, "half a character", having("Solve", r"Sol\ud800ve"),
        r"3:20: error: \ud800 is half a character. Write the whole one, or leave it out.",
    ),
    bad(
        22, "integer of 5,000 digits", boss("max_tokens: " + "9" * 5000),
        "5:22: error: agents.boss.max_tokens: a number of 5000 characters; at most 40 are read.",
    ),
    *(
        bad(
            23, f"temperature {number}", boss(f"temperature: {number}"),
            f"5:23: error: agents.boss.temperature: {number} is not a number that can be compared."
            " Write a finite one.",
        )
        for number in (".nan", ".inf", "-.inf", "1e999")
    ),
    bad(
        24, "model no", boss("model_id: no"),
        "5:20: error: agents.boss.model_id: no model 'no' on this host. Known: default. Define it"
        " in models.yaml, or with --model no=PROVIDER/NAME.",
    ),
    bad(
        24, "model true", boss("model_id: true"),
        "5:20: error: agents.boss.model_id: true is not text. Write it in quotes, or text, for"
        ' instance "default".',
    ),
    bad(
        25, "timeout of 1:30", run("timeout: 1:30"),
        "10:22: error: execution.timeout: '1:30' is not a number (seconds, above 0 to 604800)."
        " Write a number, for instance 600.",
    ),
    bad(
        26, "list as a key", GOOD + "? [a, b]\n: c\n",
        "10:3: error: a key is a collection. Keys are words; quote a text that begins with { or [.",
    ),
    bad(
        26, "braces without quotes", having('"Solve it."', "{{task}}"),
        "3:17: error: agents.w1.prompt: a key is a collection. Keys are words; quote a text that"
        " begins with { or [.",
    ),
    bad(
        26, "number as a key", GOOD + "5: c\n",
        "10:1: error: the key 5 is not text. Quote it.",
    ),
    bad(
        27, "invisible character in an id", having("boss: {", "bo\u200bss: {"),
        "5:3: error: agents: invisible character U+200B in a key. Remove it.",
    ),
    bad(
        27, "reordering character in an id", having("boss: {", "bo\u202ess: {"),
        "5:3: error: agents: text-reordering character U+202E in a text. Remove it.",
    ),
    bad(
        27, "reordering character in a role", boss('role: "chief\u2066"'),
        "5:16: error: agents.boss.role: text-reordering character U+2066 in a text. Remove it.",
    ),
    bad(
        29, "misspelt field", having("topology:", "topolgy:"),
        "6:1: error: topolgy: unknown field. Did you mean 'topology'?",
    ),
    bad(
        29, "field that is nothing like another", GOOD + "colour: red\n",
        f"10:1: error: colour: unknown field. Fields here: {TEAM_FIELDS}.",
    ),
    bad(
        29, "field of another place", GOOD + "edges: []\n",
        "10:1: error: edges: not a field here. Write them under topology.reports_to: each agent"
        " with the list of those who receive its output.",
    ),
)  # fmt: skip

GRAPH = (
    bad(
        30, "cycle", having("w1: [boss]", "w1: [w2]") + "    boss: [w1]\n",
        "8:5: error: topology.reports_to.w1: a cycle: w1 -> w2 -> boss -> w1. Leave out one of"
        " these edges.",
    ),
    bad(
        31, "agent that reports to itself", GOOD + "    boss: [boss]\n",
        "10:5: error: topology.reports_to.boss: a cycle: boss -> boss. Leave out one of these"
        " edges.",
    ),
    bad(
        32, "unknown receiver", having("w1: [boss]", "w1: [bos]"),
        "8:10: error: topology.reports_to.w1[0]: no agent 'bos'. Did you mean 'boss'?",
    ),
    bad(
        32, "unknown reporter", having("    w1: [", "    critic: ["),
        "8:5: error: topology.reports_to.critic: no agent 'critic'. Agents: w1, w2, boss.",
    ),
    bad(
        32, "unknown output", GOOD + "  output: chief\n",
        "10:11: error: topology.output: no agent 'chief'. Agents: w1, w2, boss.",
    ),
    bad(
        33, "two sinks", having("    w2: [boss]\n", ""),
        "7:3: error: topology: 2 agents report to no one: w2, boss. A team has one output: let the"
        " others report to it.",
    ),
    bad(
        33, "no edges", GOOD[: GOOD.index("topology")],
        "3:3: error: agents: 3 agents report to no one: w1, w2, boss. A team has one output: let"
        " the others report to it.",
    ),
    bad(
        34, "no agents", "name: vote\nagents: {}\n",
        "2:9: error: agents: 0 agents are too few: at least 1.",
    ),
    bad(
        34, "nothing about agents", "name: vote\n",
        "1:1: error: agents is missing. The agents of the team, by id.",
    ),
    bad(
        35, "1,000 agents",
        "name: crowd\nagents:\n"
        + "".join(f'  w{i}: {{prompt: "Solve it."}}\n' for i in range(1000))
        + "topology:\n  reports_to:\n"
        + "".join(f"    w{i}: [w0]\n" for i in range(1, 1000)),
        "3:3: error: agents: 1000 agents are too many: at most 256.",
    ),
    bad(
        36, "disconnected agent", having("    w2: [boss]\n", "") + "  output: boss\n",
        "4:3: error: agents.w2: its output does not reach the output agent, 'boss'. Let"
        " it report to an agent that does, or leave it out.",
    ),
    bad(
        37, "receiver without a list", having("w1: [boss]", "w1: boss"),
        "8:9: error: topology.reports_to.w1: 'boss' is not a list. Write a list: [\"boss\"].",
    ),
    bad(
        37, "receivers as a mapping", having("w1: [boss]", "w1: {to: boss}"),
        '8:9: error: topology.reports_to.w1: {"to": "boss"} is not a list. Write a list, for'
        ' instance ["aggregator"].',
    ),
    bad(
        37, "nothing after the colon", having("w1: [boss]", "w1:"),
        "8:8: error: topology.reports_to.w1: null is not a list. Write a list, for instance"
        ' ["aggregator"].',
    ),
    bad(
        37, "number as a receiver", having("w1: [boss]", "w1: [5]"),
        "8:10: error: topology.reports_to.w1[0]: 5 is not text. Write it in quotes, or text, for"
        ' instance "worker_1".',
    ),
    bad(
        38, "duplicate edge", having("w1: [boss]", "w1: [boss, boss]"),
        "8:16: error: topology.reports_to.w1[1]: 'boss' occurs twice. Keep one.",
    ),
    bad(
        39, "receiver in another case", having("w1: [boss]", "w1: [Boss]"),
        f"8:10: error: topology.reports_to.w1[0]: 'Boss' is not {ID}. Write for instance boss.",
    ),
    bad(
        39, "id with a decomposed accent", having("boss: {", "bo\u0301ss: {"),
        f"5:3: error: agents.'bo\u0301ss': 'bo\u0301ss' is not {ID}. Write for instance boss.",
        "8:10: error: topology.reports_to.w1[0]: no agent 'boss'. Did you mean 'bo\u0301ss'?",
        "9:10: error: topology.reports_to.w2[0]: no agent 'boss'. Did you mean 'bo\u0301ss'?",
    ),
)  # fmt: skip

TOKENS = "(tokens, 1 to 1000000)"

VALUES = (
    *(
        bad(
            40, f"max_tokens {number}", boss(f"max_tokens: {number}"),
            f"5:22: error: agents.boss.max_tokens: {number} is out of range {TOKENS}. Write a"
            " number in it, for instance 4096.",
        )
        for number in (0, -1, 10**12)
    ),
    bad(
        40, "max_tokens in quotes", boss('max_tokens: "512"'),
        f"5:22: error: agents.boss.max_tokens: '512' is not an integer {TOKENS}. Write it without"
        " quotes: 512.",
    ),
    *(
        bad(
            40, f"max_tokens {word}", boss(f"max_tokens: {word}"),
            f"5:22: error: agents.boss.max_tokens: {word} is not an integer {TOKENS}. Write a"
            " number, for instance 4096.",
        )
        for word in ("5.0", "true")
    ),
    *(
        bad(
            41, f"timeout {number}", run(f"timeout: {number}"),
            f"10:22: error: execution.timeout: {number} is out of range (seconds, above 0 to"
            " 604800). Write a number in it, for instance 600.",
        )
        for number in (0, -5)
    ),
    bad(
        41, "timeout without end", run("timeout: .inf"),
        "10:22: error: execution.timeout: .inf is not a number that can be compared. Write a"
        " finite one.",
    ),
    *(
        bad(
            42, f"parallel_workers {number}", run(f"parallel_workers: {number}"),
            f"10:31: error: execution.parallel_workers: {number} is out of range (agents, 1 to"
            " 1024). Write a number in it, for instance 4.",
        )
        for number in (0, 10_000)
    ),
    bad(
        42, "parallel_workers many", run("parallel_workers: many"),
        "10:31: error: execution.parallel_workers: 'many' is not true, false or an integer (agents,"
        " 1 to 1024). Write one of them, for instance 4.",
    ),
    bad(
        43, "max_retries -1", run("max_retries: -1"),
        "10:26: error: execution.max_retries: -1 is out of range (retries, 0 to 10). Write a"
        " number in it, for instance 2.",
    ),
    bad(
        44, "unknown tool", boss("agent_type: ToolCallingAgent, tools: [read_fil]"),
        "5:48: error: agents.boss.tools[0]: no tool 'read_fil'. Did you mean 'read_file'?",
    ),
    bad(
        44, "tool of an unknown server", boss("agent_type: ToolCallingAgent, tools: [web.search]"),
        "5:48: error: agents.boss.tools[0]: no tool 'web.search'. Known: list_files,"
        " read_file. Declare"
        " its server in tools.yaml.",
        options=("--allow-tool", "list_files", "--allow-tool", "read_file"),
    ),
    bad(
        45, "tool that is not granted", boss("agent_type: ToolCallingAgent, tools: [read_file]"),
        "5:48: error: agents.boss.tools[0]: the tool 'read_file' is not granted here. Granted:"
        " list_files.",
        options=("--allow-tool", "list_files"),
    ),
    bad(
        45, "package that is not installed", boss("agent_type: CodeAgent, imports: [nampy]"),
        "5:43: error: agents.boss.imports[0]: no package 'nampy' is installed beside coterie, in"
        f" {sys.prefix}.",
    ),
    bad(
        45, "module of Python's own", boss("agent_type: CodeAgent, imports: [numpy, json]"),
        "5:50: error: agents.boss.imports[1]: json comes with Python, so every CodeAgent has it."
        " Leave it out.",
    ),
    bad(
        45, "package that is not allowed", boss("agent_type: CodeAgent, imports: [numpy, yaml]"),
        "5:50: error: agents.boss.imports[1]: the package 'yaml' is not allowed here."
        " Allowed: numpy.",
        options=("--allow-import", "numpy"),
    ),
    bad(
        46, "unknown agent type", boss("agent_type: CodeAgnt"),
        "5:22: error: agents.boss.agent_type: no agent type 'CodeAgnt'. Did you mean 'CodeAgent'?",
    ),
    bad(
        46, "unknown backend of the team", GOOD + "backend: autogen\n",
        "10:10: error: backend: no backend 'autogen'. Known: function, llm, mini-swe-agent,"
        " person, smolagents, swe-agent. A plugin may add others.",
    ),
    bad(
        46, "misspelt backend", boss("backend: smolagent"),
        "5:19: error: agents.boss.backend: no backend 'smolagent'. Did you mean 'smolagents'?",
    ),
    bad(
        46, "backend that is not installed", boss("agent_type: SWEAgent"),
        "5:22: error: agents.boss.agent_type: MAS_SWE_AGENT_PYTHON is '', and not the path of a"
        " program. Install SWE-agent 1.1 or later from its repository (pip install --editable) into"
        " a virtual environment of its own, and set MAS_SWE_AGENT_PYTHON to that environment's"
        " python.",
    ),
    bad(
        47, "unknown model", boss("model_id: gpt-4o"),
        "5:20: error: agents.boss.model_id: no model 'gpt-4o' on this host. Known: default. Define"
        " it in models.yaml, or with --model gpt-4o=PROVIDER/NAME.",
    ),
    bad(
        48, "address of an endpoint", boss('api_base: "http://evil/v1"'),
        "5:10: error: agents.boss.api_base: not a field here. A team file never names an endpoint:"
        " define an alias in models.yaml or with --model, and write it in model_id.",
    ),
    bad(
        49, "key in a field for keys", boss(f"api_key: {KEY}"),
        "5:10: error: agents.boss.api_key: not a field here. A team file never holds a key:"
        " models.yaml names the environment variable that holds it (key_env).",
        f"5:19: error: agents.boss.api_key: {SECRET}",
    ),
    bad(
        49, "key instead of a model", boss(f"model_id: {KEY}"),
        f"5:20: error: agents.boss.model_id: {SECRET}",
    ),
    bad(
        49, "key instead of a number", boss(f"max_tokens: {KEY}"),
        f"5:22: error: agents.boss.max_tokens: {SECRET}",
    ),
    bad(
        49, "key in a prompt", having("Solve it.", f"Solve it with {KEY}."),
        f"3:16: error: agents.w1.prompt: {SECRET}",
    ),
    bad(
        49, "key as a field", boss(f"{KEY}: true"),
        f"5:10: error: agents.boss.[secret]: {SECRET}",
    ),
    bad(
        51, "prompt of 1 MB", having("Solve it.", "solve it " * 120_000),
        "1:1: error: the file is larger than 1048576 bytes. Shorten it.",
    ),
    bad(
        51, "prompt of 70 kB", having("Solve it.", "solve it " * 8_000),
        "3:16: error: agents.w1.prompt: a text of 72000 characters; at most 65536 fit. Keep long"
        " material in a file.",
    ),
    bad(
        52, "prompt as a path", having('"Solve it."', "../../x"),
        "3:16: error: agents.w1.prompt: '../../x' looks like a file name. Write the id of a prompt"
        " file, for instance solve_step_by_step, or the text itself.",
    ),
    bad(
        52, "unknown prompt file", having('"Solve it."', "solve_step_by_stp"),
        "3:16: error: agents.w1.prompt: no prompt file solve_step_by_stp.md. Did you mean"
        " 'solve_step_by_step'? To give the text itself, write a sentence, or a block after"
        " `prompt: |`.",
    ),
    bad(
        53, "schema from elsewhere", boss('output_schema: {$ref: "http://127.0.0.1:9/s.json"}'),
        "5:26: error: agents.boss.output_schema.$ref: not a field here. An output schema is"
        " self-contained: write the referenced shape here.",
    ),
    bad(
        54, "pattern that takes for ever", boss('output_schema: {type: string, pattern: "(a+)+$"}'),
        "5:40: error: agents.boss.output_schema.pattern: not a field here. Regular expressions are"
        " not used on model output: use enum, or describe it in description.",
    ),
)  # fmt: skip

TASKS = (
    bad_task(55, "not JSON", "id: t\n", "1:1: error: not JSON: expecting value."),
    bad_task(55, "empty file", "", "1:1: error: the file is empty."),
    bad_task(
        56, "cut in a text", '{"id": "t", "query": "How ma',
        "1:22: error: not JSON: unterminated string.",
    ),
    bad_task(
        56, "cut after a field", '{"id": "t"', "1:11: error: not JSON: expecting ',' delimiter."
    ),
    bad_task(
        56, "cut at the end of a line", '{"id": "t"\n',
        "1:11: error: not JSON: expecting ',' delimiter.",
    ),
    bad_task(
        57, "100 MB", 100_000_000, "1:1: error: the file is larger than 16777216 bytes. Shorten it."
    ),
    *(
        bad_task(
            58, f"answer {number}", task(f'"answer": {number}'),
            f"1:37: error: answer: {number} is not a number that can be compared. Write a finite"
            " one.",
        )
        for number in ("NaN", "-Infinity", "1e999")
    ),
    bad_task(
        59, "duplicate key", task('"query": "r"'),
        "1:27: error: query: duplicate key 'query', first at 1:13. Keep one.",
    ),
    bad_task(
        60, "missing"
        " field", '{"id": "t"}', "1:1: error: query is missing. The question or instruction."
    ),
    bad_task(
        60, "another word for a field", '{"id": "t", "question": "q"}',
        "1:1: error: query is missing. The question or instruction.",
        "1:13: error: question: not a field here. Write query.",
    ),
    bad_task(
        61, "10,000 levels", task(f'"answer": {"[" * 10_000}{"]" * 10_000}'),
        "1:68: error: nested deeper than 32 levels. Flatten it.",
    ),
    bad_task(
        62, "not UTF-8", task('"context": "L\xf6we"').encode("latin-1"),
        "1:40: error: the byte 0xf6 is not UTF-8. Save the file as UTF-8.",
    ),
    bad_task(
        62, "half a character", task(r'"context": "\ud800"'),
        "1:38: error: context: half a character U+D800 in a text. Remove it.",
    ),
    # A task has no archives. What an archive could do, the names of its files might:
    *(
        bad_task(
            63, f"path {path!r}", task(f'"files": [{json.dumps(path)}]'),
            f"1:37: error: files[0]: {path!r} is not {PATH}. Write for instance notes.txt.",
        )
        for path in ("../secrets", "a/../../b", "/etc/passwd", "a\\..\\b", "C:x", "a//b", ".", "")
    ),
    bad_task(
        63, "name of a text", task('"files": {"../x": "text"}'),
        f"1:37: error: files.'../x': '../x' is not {PATH}. Write for instance notes.txt.",
    ),
    bad_task(
        63, "NUL in a path", task('"files": ["a\\u0000"]'),
        "1:37: error: files[0]: control character U+0000 in a text. Remove it.",
    ),
    bad_task(
        63, "file in the place of a folder", task('"files": {"a": "text", "a/b": "text"}'),
        "1:37: error: files.a: 'a' is also the name of a folder. Rename one.",
    ),
)  # fmt: skip

CASES = (*YAML, *GRAPH, *VALUES, *TASKS)
WORKS = {
    28: "Windows line ends and a missing last line end are no fault",
    50: "prompts are texts and never templates",
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del here
    for variable in ("MAS_MODEL", "MAS_SWE_AGENT_PYTHON"):
        monkeypatch.delenv(variable, raising=False)


def write(case: Case) -> None:
    match case.content:
        case int(size):
            with Path(case.file).open("wb") as stream:
                stream.truncate(size)
        case bytes(content):
            Path(case.file).write_bytes(content)
        case text:
            Path(case.file).write_text(text, encoding="utf-8", newline="")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number}: {case.name}")
def test_a_bad_file_is_refused_with_all_its_problems(case: Case) -> None:
    write(case)
    result = ran(main, *case.options, case.file)
    assert result.output.splitlines() == [f"{case.file}:{line}" for line in sorted_lines(case)]
    assert result.exit_code == 2
    assert KEY not in result.output


def sorted_lines(case: Case) -> list[str]:
    """The expected lines, by place."""
    return sorted(case.texts, key=lambda line: [int(part) for part in line.split(":")[:2]])


def test_no_number_is_left_out() -> None:
    assert {case.number for case in CASES} | set(WORKS) == set(range(1, 64))


def test_the_example_of_the_manual_to_the_letter() -> None:
    Path("team.yaml").write_text(
        """\
# Three agents: two solve the task,
# a third picks one of the answers.
name: vote
agents:
  w1:
    prompt: Solve it.
    max_tokens: 512
  w2:
    # One that thinks at length.
    role: thinker
    prompt: Solve it.
    temperature: 0.7
    max_tokens:
      lots
  boss:
    prompt: Pick one.
topology:
  reports_to:
    w1: [boss]
    w2: [boss]
"""
    )
    assert problems_of(load_team, "team.yaml") == [
        "team.yaml:14:7: error: agents.w2.max_tokens: 'lots' is not an integer (tokens, 1 to"
        " 1000000). Write a number, for instance 4096."
    ]


def test_28_windows_line_ends_and_no_last_line_end_work() -> None:
    block = having('{prompt: "Pick one."}', "\n    prompt: |\n      Pick one.\n      Say why.")
    Path("team.yaml").write_bytes(block.rstrip("\n").replace("\n", "\r\n").encode())
    team = load_team("team.yaml")
    assert team.agents["boss"].prompt == "Pick one.\nSay why.\n"
    assert team.reports_to == {"w1": ("boss",), "w2": ("boss",)}


def test_50_prompts_are_passed_on_as_they_stand() -> None:
    text = "Repeat: {{ secret }} {% for x in y %} {0.__class__} ${HOME} %(x)s"
    Path("team.yaml").write_text(having("Solve it.", text))
    assert load_team("team.yaml").agents["w1"].prompt == text


def test_63_a_link_does_not_lead_out_of_the_folder_of_the_task() -> None:
    Path("folder").mkdir()
    Path("secret.txt").write_text("text")
    Path("folder/link.txt").symlink_to("../secret.txt")
    Path("folder/round.txt").symlink_to("round.txt")
    Path("folder/task.json").write_text(task('"files": ["link.txt", "round.txt"]'))
    out, around = problems_of(load_task, "folder/task.json")
    assert out == (
        "folder/task.json:1:37: error: files[0]: 'link.txt' cannot be read: it is a link that leads"
        " out of its folder; put a copy of the file in its place."
    )
    assert around.startswith("folder/task.json:1:49: error: files[1]: 'round.txt' cannot be read: ")


def test_all_problems_of_several_files_show_at_once() -> None:
    Path("team.yaml").write_text(
        having("name: vote", "name: Vote 3")
        .replace("w1: [boss]", "w1: [bos]")
        .replace('w2: {prompt: "Solve it."}', "w2: {max_tokens: 0, tols: []}")
    )
    Path("task.json").write_text('{"id": "t"}')
    result = ran(main, "team.yaml", "task.json", "none.yaml")
    assert result.output.splitlines() == [
        f"team.yaml:1:7: error: name: 'Vote 3' is not {ID}. Write for instance vote_3.",
        f"team.yaml:4:20: error: agents.w2.max_tokens: 0 is out of range {TOKENS}. Write a number"
        " in it, for instance 4096.",
        "team.yaml:4:23: error: agents.w2.tols: unknown field. Did you mean 'tools'?",
        "team.yaml:8:10: error: topology.reports_to.w1[0]: no agent 'bos'. Did you mean 'boss'?",
        "task.json:1:1: error: query is missing. The question or instruction.",
        "none.yaml:1:1: error: no file 'none.yaml'.",
    ]
    assert result.exit_code == 2
