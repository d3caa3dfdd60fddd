"""What rewrites teams between tasks: operators, and the strategies that say which acts when.

An operator reads teams, digests of their runs and memory, and answers with edits, never with a
rewritten file: `select`, `instantiate`, `mutate`, `crossover`, `consolidate` (EvoMAS §3.1). `judge`
scores answers without knowing the right one, and `chance` edits without a model, for comparison.
`contributions`, `coach`, `restructure` and `enlist` adapt a team while it works (TacoMAS §3).
`utterances`, `appraise` and `distil` make experience of what agents said in rounds (MATTRL §3.2).
`gauge` says what a case looks like, and `operators/routing/` who is to work on it (MATTRL §5.2).
`operators/strategies/` has the loops that put them to work.

Each operator is usable alone. What it needs of a model it asks through `Meta`; what came of it is a
`Proposal`, or it was `Dropped`, and then the parents stay as they are.
"""

from .account import Account
from .appraise import Appraisal, appraise
from .bounds import Bounds
from .chance import Chance, chance
from .coach import Coaching, coach
from .components import ByChance, ByOutcome, BySchedule, ComponentPolicy
from .consolidate import Step, consolidate
from .contributions import Contribution, Contributions, Earlier, contributions
from .crossover import crossover
from .decide import decide
from .digest import digest
from .distil import Distilled, distil
from .enlist import enlist
from .gauge import gauge
from .instantiate import instantiate
from .judge import Agreement, Verdict, agreement, judge
from .meta import Meta, Respondent
from .mutate import MUTABLE, mutate
from .proposal import Dropped, Parent, Proposal, edit_words
from .restructure import lasting_low, restructure
from .select import Selection, select
from .utterances import Utterance, utterances

__all__ = [
    "MUTABLE",
    "Account",
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
    "Dropped",
    "Earlier",
    "Meta",
    "Parent",
    "Proposal",
    "Respondent",
    "Selection",
    "Step",
    "Utterance",
    "Verdict",
    "agreement",
    "appraise",
    "chance",
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
    "restructure",
    "select",
    "utterances",
]
