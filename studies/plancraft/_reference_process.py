"""A program of its own: plays episodes with the package's evaluator, as lines of JSON ask for.

It is given the folder that has the package, and the seconds that a plan may take. Of what the
package imports, pictures, progress bars, uploads and its neural models are left out: no text and no
verdict depends on them.
"""

import functools
import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any

UNUSED = ("imageio", "tqdm", "wandb")
UNKNOWN = (
    "inventory_trace", "items_used", "unique_items_used", "complexity", "optimal_path",
    "optimal_path_length",
)  # fmt: skip
"""What the evaluator does not look at."""
MISHAPS = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What the package raises on a bug of its own, such as a plan that does not come to an end."""


class _NoPicture:
    """Stands for the picture of the crafting table, which takes longer than all the rest."""

    frame = None

    def __init__(self, **_: Any) -> None:
        pass

    def add_item_to_slot(self, *_: Any) -> None:
        pass

    def remove_item_from_slot(self, *_: Any) -> None:
        pass

    def clear(self) -> None:
        pass


class _Scripted:
    """A model that says what it is given, and nothing when there is no more."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = iter(texts)
        self.messages: list[str] = []

    def step(self, _observation: Any, **_: Any) -> str:
        self.messages.append(next(self._texts, ""))
        return self.messages[-1]


class _Oracle:
    """A model that follows the package's planner, as the package's own oracle does."""

    def __init__(self) -> None:
        self._planner = importlib.import_module("plancraft.environment.planner")
        self._planned: list[str] = []
        self.messages: list[str] = []

    def step(self, observation: Any, **_: Any) -> str:
        if not self._planned:
            subplans, _ = self._planner.get_subplans(observation)
            self._planned = [action for subplan in subplans for action in subplan]
        self.messages.append(self._planned.pop(0))
        return self.messages[-1]


class _Evaluations:
    def __init__(self, folder: str, seconds: float) -> None:
        sys.path.insert(0, folder)
        for name in UNUSED:
            sys.modules[name] = types.ModuleType(name)
        vars(sys.modules["tqdm"])["tqdm"] = None
        models = types.ModuleType("plancraft.models")
        models.__path__ = [str(Path(folder) / "plancraft" / "models")]
        sys.modules["plancraft.models"] = models
        environment = importlib.import_module("plancraft.environment")
        vars(importlib.import_module("plancraft.environment.env"))["CraftingTableGUI"] = _NoPicture
        planner = vars(importlib.import_module("plancraft.environment.planner"))
        planner["optimal_planner"] = functools.partial(planner["optimal_planner"], timeout=seconds)
        self._example = importlib.import_module("plancraft.config").PlancraftExample
        self._evaluator = importlib.import_module("plancraft.evaluator").Evaluator(
            "none",
            actions=[
                environment.MoveActionHandler(),
                environment.SmeltActionHandler(),
                environment.ImpossibleActionHandler(),
            ],
            use_text_inventory=True,
        )

    def played(self, asked: dict[str, Any]) -> dict[str, Any]:
        texts = asked["texts"]
        model = _Oracle() if texts is None else _Scripted(texts)
        try:
            result = self._evaluator.eval_example(self._asked_for(asked), model)
        except MISHAPS as error:
            return {"said": model.messages, "failed": f"{type(error).__name__}: {error}"}
        report = [
            item for item in result["model_trace"]["dialogue_history"] if item["role"] == "user"
        ]
        return {
            "said": model.messages,
            "told": [item["content"] for item in report],
            "success": result["success"],
            "steps": result["number_of_steps"],
        }

    def _asked_for(self, asked: dict[str, Any]) -> Any:
        slots = {slot: {"type": item, "quantity": n} for slot, (item, n) in asked["slots"].items()}
        return self._example(
            target=asked["target"],
            slotted_inventory=slots,
            impossible=asked["impossible"],
            id="asked",
            split="test",
            inventory={},
            num_distractors=0,
            complexity_bin=0,
            complexity_split="",
            unseen_in_train=False,
            unseen_in_val=False,
            **dict.fromkeys(UNKNOWN),
        )


def main() -> None:
    evaluations = _Evaluations(sys.argv[1], float(sys.argv[2]))
    for line in sys.stdin:
        sys.stdout.write(f"{json.dumps(evaluations.played(json.loads(line)))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
