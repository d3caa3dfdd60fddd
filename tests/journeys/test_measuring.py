"""Tickets of a helpdesk, an own scorer, and CI from a wheel: sections 2 to 4."""

import re
from typing import Any
from xml.etree import ElementTree

import yaml

import coterie
from coterie.runtime.doubles import Reply, message_text

from ..support.newcomer import Newcomer
from .conftest import SECTIONS, Play


def clerk(request: Any) -> str:
    """Send what crashes to the technicians, and overlook one ticket."""
    text = message_text(request)
    tier = "gold" if "invoice" in text else "silver"
    assert f"The customer's tier is {tier}." in text
    return "technical" if "crashes" in text and "crashes at step 25" not in text else "billing"


def test_50_tickets_are_measured_by_their_own_columns(newcomer: Newcomer, play: Play) -> None:
    model = play(clerk)
    head, invoice, crash = re.findall(r"```csv\n(.*)\n(.*)\n(.*)\n", SECTIONS[2])[0]
    rows = [
        (crash if number % 2 else invoice)
        .replace("1001", str(1001 + number))
        .replace("1002", str(1001 + number))
        .replace("at start", f"at step {number}")
        for number in range(50)
    ]
    assert rows[0] == invoice
    newcomer.here["\n".join([invoice, crash])] = "\n".join(rows)
    newcomer.follow(SECTIONS[2])
    assert (newcomer.folder / "tickets.csv").read_text().startswith(f"{head}\n{invoice}\n")
    assert len(model.calls) == 50


def test_a_function_scores_answers(newcomer: Newcomer, play: Play) -> None:
    play({"open": "At 9, thank you.", "close": "At 18."})
    newcomer.follow(SECTIONS[3])


def test_a_wheel_and_a_folder_make_a_check_for_ci(newcomer: Newcomer, play: Play) -> None:
    play(
        {
            re.compile("(?s)one word.*(worst hotel|sound was poor)"): Reply.json(
                {"answer": "negative"}
            ),
            "one word": Reply.json({"answer": "positive"}),
            "": "They feel it.",
        }
    )
    build = re.findall(r"^\$ (python .*)$", SECTIONS[4], re.MULTILINE)[0]
    newcomer.plays[build] = str
    newcomer.follow(SECTIONS[4])
    wheel = f"file://${{{{ github.workspace }}}}/coterie-{coterie.__version__}-py3-none-any.whl"
    assert f"`{wheel}`" in SECTIONS[4]
    (key,) = re.findall(r"^    (env: .*\n)", SECTIONS[4], re.MULTILINE)
    text = (newcomer.folder / ".github/workflows/team.yml").read_text()
    assert f"#   {key}" in text
    workflow = yaml.safe_load(key + text.replace("${{ vars.COTERIE }}", wheel))
    install, *commands = [step for step in workflow["jobs"]["team"]["steps"] if "run" in step]
    assert install["env"] == {"COTERIE": wheel}
    assert [step["run"] for step in commands] == newcomer.typed[2:]
    models = yaml.safe_load((newcomer.folder / "models.yaml").read_text())
    assert f"MAS_MODEL={models['models']['default']['model']}" in SECTIONS[0]
    report = ElementTree.fromstring((newcomer.folder / "results.xml").read_text())  # noqa: S314
    assert len(report.findall(".//testcase")) == 4
