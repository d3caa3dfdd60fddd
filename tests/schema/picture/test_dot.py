from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from coterie.schema.picture import draw

if TYPE_CHECKING:
    from coterie.schema import Team

GRAPHVIZ = shutil.which("dot")
ID = re.compile(r'"(\w+)"')


def test_every_edge_is_drawn_and_levels_stand_on_one_rank(team: Team) -> None:
    lines = draw(team, "dot").splitlines()
    edges: list[tuple[str, str]] = []
    for senders, receivers in (line.split(" -> ") for line in lines if " -> " in line):
        edges += [(u, v) for u in ID.findall(senders) for v in ID.findall(receivers)]
    assert sorted(edges) == sorted(team.edges)
    levels = tuple(tuple(ID.findall(line)) for line in lines if "rank=same" in line)
    assert levels == team.levels


def test_a_node_says_what_the_agent_is(vote: Team) -> None:
    picture = draw(vote, "dot")
    assert r'  "worker_1" [label="worker_1\nworker\nLLM · default"];' in picture
    assert picture.count("penwidth") == 1
    assert r'"aggregator" [label="aggregator\nvote\nFunction majority", penwidth=2.5];' in picture


def test_signs_of_the_language_are_escaped(hostile: Team) -> None:
    line = next(line for line in draw(hostile, "dot").splitlines() if line.startswith('  "end" ['))
    assert r"a \"quoted\" <b>role</b> &amp;amp; #1;" in line
    assert r"%%{init}%% \\n ;" in line


@pytest.mark.skipif(not GRAPHVIZ, reason="GraphViz is not installed")
def test_graphviz_reads_it(team: Team) -> None:
    command = [GRAPHVIZ or "dot", "-Tplain"]
    plain = subprocess.check_output(command, input=draw(team, "dot"), text=True)
    assert len(re.findall(r"^edge ", plain, re.MULTILINE)) == len(team.edges)
