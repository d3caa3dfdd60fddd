"""Arenas of simulated worlds.

The worlds are those of `controls`, where operators write down a convention of codes whatever they
are asked, and agents are more often right if they read it. In `gain` it is always the right one, in
`ideas` one in five, and in `null` none helps. Asked for a whole team file, operators give the one
that the question shows, with the convention in place of a prompt. Asked for a description alone,
they give one that helps nobody.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from coterie.benchmarks.arena.declared import known_methods
from coterie.benchmarks.command import main as mas_bench
from coterie.runtime.doubles import ScriptedModel

from ..controls.world import World, tasks
from ..plugin import register

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

TEAM = """\
name: coder
agents:
  coder: {prompt: Say the code., temperature: 0}
"""
WORLDS: Mapping[str, World] = {
    "gain": World(name="arena gain"),
    "ideas": World(name="arena ideas", ideas=5),
    "null": World(name="arena null", untaught=0.5, taught=0.5),
}
METHODS: Mapping[str, Any] = {
    **dict.fromkeys(known_methods()),
    "gepa": {"strategy": "gepa"},
    "gepa, the file": {"strategy": "gepa_file"},
    "miprov2": {"strategy": "mipro"},
    "mattrl, batches of 3": {"like": "mattrl", "settings": {"batch": 3}},
    "evochamber without dreams": {"like": "evochamber", "settings": {"codream": False}},
    "tacomas without structure": {"like": "tacomas", "settings": {"topology": False}},
    "mattrl by difference": {"like": "mattrl", "settings": {"credit": "difference"}},
    "meta-team, one analyser": {"like": "meta-team", "settings": {"scheme": "centralised"}},
}
"""Those that every arena.yaml may name; GEPA on prompts and on the file and MIPROv2, by entry
points; MATTRL with batches that end before the cap is met; and each paper's main ablation."""
PLUGIN = Path(__file__).parent / "plugin"
ITEMS = 4000
SIZES = {"evolve": 40, "test": 12}
CAPS = {"cap": "calls=100", "test_cap": "calls=20000"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Arena:
    """An arena of one world, in a folder that the same command resumes."""

    world: str
    folder: Path
    seeds: int
    methods: Collection[str]
    sizes: Mapping[str, int] = field(default_factory=lambda: SIZES)
    caps: Mapping[str, str] = field(default_factory=lambda: CAPS)

    @property
    def results(self) -> Path:
        """Where its results are."""
        return self.folder / "results"

    def write(self) -> Path:
        """Write its files, and return its arena.yaml."""
        self.folder.mkdir(parents=True, exist_ok=True)
        value = {
            "team": "team.yaml",
            **self.caps,
            "seeds": self.seeds,
            "streams": {self.world: {"from": "tasks.jsonl", **self.sizes}},
            "methods": {name: METHODS[name] for name in self.methods},
        }
        path = self.folder / "arena.yaml"
        for name, text in {
            "team.yaml": TEAM,
            "tasks.jsonl": tasks(0, ITEMS),
            path.name: json.dumps(value),
        }.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        return path

    def run(self, *words: str) -> str:
        """Run `mas-bench arena` on it, and return what it prints: its table, by default.

        Raises:
            RuntimeError: A cell was stopped.
        """
        path = self.write()
        register(PLUGIN)
        with ScriptedModel(WORLDS[self.world]) as model:
            options = ["--results", str(self.results), "--quiet", "--embedder", "hashing"]
            options += ["--model", f"m@{model.api_base}", *words]
            result = CliRunner().invoke(mas_bench, ["arena", str(path), *options])
        if result.exit_code:
            raise RuntimeError(f"{self.world}: {result.output}") from result.exception
        return result.stdout
