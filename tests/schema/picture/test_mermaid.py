from coterie.schema import Team
from coterie.schema.picture import draw


def test_every_edge_and_every_agent_is_drawn(team: Team) -> None:
    first, *lines = (line.strip() for line in draw(team, "mermaid").splitlines())
    edges: list[tuple[str, str]] = []
    for senders, receivers in (line.split(" --> ") for line in lines if " --> " in line):
        edges += [(u, v) for u in senders.split(" & ") for v in receivers.split(" & ")]
    assert first == "flowchart LR"
    assert sorted(edges) == sorted((f"agent_{u}", f"agent_{v}") for u, v in team.edges)
    nodes = {line.split("[")[0] for line in lines if "[" in line}
    assert nodes == {f"agent_{agent_id}" for agent_id in team.agents}


def test_a_node_says_what_the_agent_is(vote: Team) -> None:
    picture = draw(vote, "mermaid")
    assert 'agent_worker_1["<b>worker_1</b><br/>worker<br/>LLM · default"]' in picture
    assert picture.endswith("    class agent_aggregator output\n")


def test_no_sign_of_the_language_is_left_in_a_label(hostile: Team) -> None:
    line = next(line for line in draw(hostile, "mermaid").splitlines() if "agent_end[" in line)
    label = line.removeprefix('    agent_end["<b>end</b><br/>').removesuffix('<br/>LLM · default"]')
    assert "#34;quoted#34; #60;b#62;role#60;#47;b#62; #38;amp#59;" in label
    assert not set(label) & set('"<>{}[]|`%\\&/')
    assert "日本語" in label
