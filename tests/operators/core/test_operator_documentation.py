"""The operator that the documentation builds works."""

from typing import Any

from coterie.operators import Proposal
from coterie.operators.command.op.signature import command_of
from coterie.runtime.doubles import Reply

from ...support.commands import invoked
from ...support.pages import blocks
from ..asking import PAIR, TASK, asking, parent


def test_the_operator_of_the_page_makes_a_child() -> None:
    (block,) = blocks("extend.md", "python", "## Add an operator")
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 - our own page
    rules = Reply.json({"rules": "Count twice."})
    result = asking(rules, lambda meta: names["constitute"](meta, "c", TASK, parent())).result
    assert isinstance(result, Proposal)
    assert result.child.constitution == "Count twice."
    assert PAIR.constitution == ""
    helped = invoked(command_of(names["CONSTITUTE"]), ["--help"], "constitute")
    assert all(word in helped.out for word in ("TEAM", "--task", "--run", "--memory", "-o"))
