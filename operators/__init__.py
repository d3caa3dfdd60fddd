"""What rewrites teams between tasks: operators, and the strategies that say which acts when.

An operator reads teams, digests of their runs and memory, and answers with edits, never with a
rewritten file: `select`, `instantiate`, `mutate`, `crossover`, `consolidate` (EvoMAS §3.1). `judge`
scores answers without the reference answer. `chance` makes edits without a model, for comparison.
`contributions`, `coach`, `restructure` and `enlist` adapt a team while it works (TacoMAS §3).
`utterances`, `appraise` and `distil` turn the utterances of agents into experience (MATTRL §3.2).
`gauge` extracts the features of a case, and `operators/routing/` chooses who works on it (MATTRL
§5.2). `methods/` holds the operators by method, with the loops that use them.

Each operator can be used alone. It asks a model through `MetaModel` and returns a `Proposal` or a
`RejectedProposal`; in both cases the parents stay unchanged.
"""

from typing import TYPE_CHECKING

from ..schema.values.first_use import on_first_use

if TYPE_CHECKING:
    from ..schema.edits.offer.strict import closed
    from .core.account import RoundAccount
    from .core.answers import child_of, structured
    from .core.bounds import Bounds
    from .core.digest import digest
    from .core.judge import Agreement, JudgeVerdict, agreement, judge
    from .core.material import task_text
    from .core.meta import MetaModel, OperatorModel, Question
    from .core.operator import Operator, OperatorSetting, operator_of
    from .core.proposal import Parent, Proposal, RejectedProposal, edit_words
    from .core.utterances import Utterance, utterances
    from .credit.contributions import Contribution, Contributions, Earlier, contributions
    from .methods.evomas.crossover import crossover
    from .methods.evomas.instantiate import instantiate
    from .methods.evomas.select import Selection, select
    from .methods.mattrl.appraise import Appraisal, appraise
    from .methods.mattrl.distil import Distilled, distil
    from .methods.mattrl.gauge import gauge
    from .methods.search.chance import Chance, chance
    from .methods.search.components import ByChance, ByOutcome, BySchedule, ComponentPolicy
    from .methods.search.consolidate import EvolutionStep, consolidate
    from .methods.search.decide import decide
    from .methods.search.mutate import MUTABLE, mutate
    from .methods.tacomas.coach import Coaching, coach
    from .methods.tacomas.enlist import enlist
    from .methods.tacomas.restructure import lasting_low, restructure

__all__ = [
    "MUTABLE",
    "Agreement",
    "Appraisal",
    "Bounds",
    "ByChance",
    "ByOutcome",
    "BySchedule",
    "Chance",
    "Coaching",
    "ComponentPolicy",
    "Contribution",
    "Contributions",
    "Distilled",
    "Earlier",
    "EvolutionStep",
    "JudgeVerdict",
    "MetaModel",
    "Operator",
    "OperatorModel",
    "OperatorSetting",
    "Parent",
    "Proposal",
    "Question",
    "RejectedProposal",
    "RoundAccount",
    "Selection",
    "Utterance",
    "agreement",
    "appraise",
    "chance",
    "child_of",
    "closed",
    "coach",
    "consolidate",
    "contributions",
    "crossover",
    "decide",
    "digest",
    "distil",
    "edit_words",
    "enlist",
    "gauge",
    "instantiate",
    "judge",
    "lasting_low",
    "mutate",
    "operator_of",
    "restructure",
    "select",
    "structured",
    "task_text",
    "utterances",
]

__getattr__ = on_first_use(__name__)
