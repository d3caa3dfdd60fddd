"""The toolsets of docker-agent as tools, shells, and servers of a tools.yaml."""

from pathlib import Path

from coterie.schema.foreign.taking_over import take_over

TOOLED = """\
mcps:
  notes: {command: npx, args: [-y, notes-server], env: {KEY: "${KEY}", MODE: fast}, tools: [add]}
agents:
  root:
    instruction: Work.
    max_iterations: 9
    sub_agents: [coder, looker, picky]
    toolsets:
      - {type: filesystem, instruction: "{ORIGINAL_INSTRUCTIONS} Look under src."}
      - {type: mcp, ref: notes}
      - {type: shell}
  coder:
    instruction: Code.
    toolsets: [{type: shell}, {type: filesystem, tools: [read_file, write_file]}]
  looker:
    instruction: Look.
    toolsets:
      - type: mcp
        remote:
          url: https://w.example/mcp
          headers: {Authorization: "Bearer ${env.W_KEY}", X-T: "${T}", X-Secret: abc}
  picky:
    instruction: Pick.
    toolsets: [{type: filesystem, tools: [read_file, write_file]}, {type: mcp, command: [x]}]
"""


def test_toolsets_become_tools_a_shell_and_servers(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(TOOLED)
    imported = take_over(tmp_path / "t.yaml")
    agents = imported.team.agents
    files = ("list_files", "read_file", "search_text")
    assert {name: (agent.agent_type, agent.tools) for name, agent in agents.items()} == {
        "root": ("ToolCallingAgent", (*files, "notes.add")),
        "coder": ("DefaultAgent", ()),
        "looker": ("LLM", ()),
        "picky": ("ToolCallingAgent", ("read_file",)),
    }
    assert (agents["root"].max_steps, agents["root"].prompt) == (9, "Work.\n\nLook under src.")
    command = ["npx", "-y", "notes-server"]
    assert imported.servers == {
        "notes": {"command": command, "env": ["KEY", "MODE"], "tools": ["add"]}
    }
    headers = {"Authorization": "Bearer ${W_KEY}", "X-T": "${T}"}
    assert imported.clients["w_example"] == {
        "type": "http", "url": "https://w.example/mcp", "headers": headers,
    }  # fmt: skip
    lost = "\n".join(f"{problem.path}: {problem.message}" for problem in imported.losses)
    for part in (
        "mcps.notes.env.MODE: values are not copied",
        "toolsets[2]: the toolset 'shell': an agent has tools or a shell",
        "toolsets[0]: the file does not list the tools of w_example",
        "headers.X-Secret: tools.yaml holds no values",
        "toolsets[0].tools[1]: 'write_file' has no counterpart",
        'toolsets[1].command: ["x"] is not a text',
    ):
        assert part in lost


def test_tools_that_a_tools_yaml_lists_are_granted(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(TOOLED)
    imported = take_over(tmp_path / "t.yaml", listed={"w_example": ("see",)})
    assert imported.team.agents["looker"].tools == ("w_example.see",)
    assert (imported.servers, imported.clients) == ({}, {})
    assert "has none of its tools, such as notes" in "\n".join(
        problem.message for problem in imported.losses
    )


def test_servers_that_cannot_be_declared_are_named(tmp_path: Path) -> None:
    tools = ", ".join(f"t{number}" for number in range(70))
    (tmp_path / "t.yaml").write_text(f"""\
mcps: {{odd: {{command: odd}}}}
agents:
  root:
    instruction: Work.
    toolsets:
      - {{type: mcp, command: many, tools: [{tools}, "no tool"]}}
      - {{type: mcp, ref: "docker:fetch", env: {{fetch.key: "${{K}}"}}}}
      - {{type: mcp, name: none}}
      - {{type: mcp, remote: {{url: "https://s.example", transport_type: sse}}}}
      - {{type: mcp, ref: odd, instruction: Use it well.}}
      - {{type: mcp, ref: odd}}
      - {{type: mcp, command: npx, args: [-y, "@acme/odd"]}}
""")
    imported = take_over(tmp_path / "t.yaml")
    assert len(imported.team.agents["root"].tools) == 64
    assert imported.team.agents["root"].prompt == "Work.\n\nUse it well."
    assert list(imported.clients) == ["many", "fetch", "odd", "odd_2"]
    fetch = ["mcp", "gateway", "run", "--servers", "fetch"]
    assert imported.clients["fetch"] == {"command": "docker", "args": fetch}
    lost = "\n".join(problem.message for problem in imported.losses)
    for part in (
        "an agent has 64 tools at most",
        "'no tool' is not the name of a tool",
        "values are not copied",
        "it has no command, no remote, and no ref",
        "'sse': only streamable HTTP is supported",
    ):
        assert part in lost
