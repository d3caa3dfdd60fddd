"""The package's planner as a model: a scripted endpoint that knows what to do in every task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from coterie.benchmarks.plancraft.episode import CraftingEpisode
from coterie.benchmarks.plancraft.tasks import world_of
from coterie.benchmarks.plancraft.toolkit import ACT
from coterie.runtime.doubles import Reply, message_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coterie.benchmarks.plancraft.package import Published

    from .reference import Reference

    Plans = Mapping[str, Sequence[str]]

_OBSERVATION = re.compile(r"Craft an item of type: \S+\ninventory:(?:\n - [^\n]+)*")
_REASON = "impossible: the planner finds no plan"


def plans_of(split: str, published: Published, reference: Reference) -> Plans:
    """Have the planner play each example of a split; give its actions by what is seen at first."""
    plans: dict[str, Sequence[str]] = {}
    for example in published.splits[split]:
        world = world_of(example, published)
        played = reference.play(world, impossible=example.impossible, texts=None)
        # The planner gives up without a reason, which is lost where the outer blanks of texts are.
        texts = [_REASON if text == "impossible: " else text for text in played.said]
        plans[CraftingEpisode(world).observation] = texts
    return plans


def oracle_reply(plans: Plans, request: Mapping[str, Any]) -> Reply:
    """Answer with the next action, where there are tools; else with a list of all of them."""
    seen = _OBSERVATION.search(message_text(dict(request)))
    plan = plans.get(seen[0]) if seen else None
    if plan is None:
        return Reply.error(404, message="this is no task of the split whose plans are served")
    if not request.get("tools"):
        return Reply(text="\n".join(["ACTIONS:", *plan]))
    done = sum(message["role"] == "assistant" for message in request["messages"])
    if done < len(plan):
        return Reply.tool(ACT.name, action=plan[done])
    return Reply.tool("final_answer", answer="It is done.")
