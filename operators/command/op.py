"""`mas op`: one operator at a time, on files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...schema.command import Group
from .chance import draw_child
from .credit import credit_run

if TYPE_CHECKING:
    from ...schema.entries import Entry

__all__ = ["main"]


class _Operators(Group):
    """A group whose commands are operators, a plugin's too."""

    entries = "operators"
    summaries = {  # noqa: RUF012 - to ask an operator itself, it would have to be imported
        "appraise": "Let a model score every utterance of a run.",
        "attribute": "Say which agent made a run fail: the same as mas blame.",
        "chance": "Change one component of a team at random, for comparison.",
        "coach": "Let a model tell an agent what it did wrong in a run, and what to do.",
        "consolidate": "Write what an evolution learnt on a task into its pool's memory.",
        "contributions": "Let a model judge what each agent contributed to a run.",
        "credit": "Say what each agent of a finished run was worth to its score.",
        "crossover": "Let a model make a child of two teams.",
        "distil": "Let a model put what an agent said in a run into what it should know.",
        "dream_contrast": "Let a model compare agents that succeeded with agents that failed.",
        "dream_crystallize": "Let a model turn strategies into insights, and say where they hold.",
        "dream_debate": "Let a model criticise strategies from where an agent stands.",
        "dream_imagine": "Let a model imagine strategies that follow from what differed.",
        "dream_reflect": "Let a model say what went right and wrong in an agent's work.",
        "enlist": "Let a model make a team of a catalogue's roles for a task.",
        "fork": "Let a model write a twin of a pool's agent that goes further into its niche.",
        "fuse": "Let a model merge two texts that say almost the same.",
        "genesis": "Let a model write a new agent of a pool, for a niche.",
        "instantiate": "Let a model adapt a team to a task.",
        "lead": "Let the leader of a team of a population choose its structure.",
        "lead_review": "Let the leader of a team say why its structure did or did not work.",
        "merge": "Let a model write one agent in the place of two of a pool.",
        "mutate": "Let a model change one component of a team.",
        "prune": "Say how an agent of a pool did, and retire it with --keep.",
        "reflect": "Let a model say what an agent should know after a run.",
        "reorganise": "Let a team look back on a run, and change its notes, rules and roster.",
        "restructure": "Let a model take in agents of roles, let go of some, and move edges.",
        "retrospect": "Let an agent look back on a run, ask colleagues, and note what it learnt.",
        "select": "Choose the teams of a pool that are to begin with a task.",
        "settle": "Let two agents of a run note what they learnt about each other.",
        "specialize": "Let a model nudge a pool's agent towards what it is good at.",
    }

    def command_of(self, point: Entry) -> click.Command | None:
        """Give an operator's command: its own, or one that is made for it."""
        from ..operator import operator_of
        from .children import child_command

        operator = operator_of(point.name)
        return operator.command() if operator.command else child_command(operator)


@click.group("op", cls=_Operators)
def main() -> None:
    """Let an operator act once, and look at what it proposes before anything is kept."""


main.add_command(draw_child)
main.add_command(credit_run)


if __name__ == "__main__":
    main()
