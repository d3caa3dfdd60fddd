"""Evidence about coterie: simulated worlds, measurements of methods, and benchmarks of the engine.

Nothing here is part of the package, and the package imports nothing of it. Run a study from the
top of the repository:

    python -m studies.landscape

* Simulated worlds, where the truth is known: `landscape` (EvoMAS), `chamber` (EvoChamber),
  `retrospect` (Meta-Team), `adaptation` (TacoMAS), `consulting` (MATTRL);
  over one library, `world`.
* All methods side by side: `arena`, in the worlds of `controls`; `race` with its rivals.
* Statistics: `intervals`, `null`, `calibration`, `population`, `credit`, `routing`, `reuse`,
  `memory`, `headroom`, `differential`.
* The engine: `engine`, `throughput`, `bus`, `growing`, `cold_starts`, `first_call`, `traced`,
  `weight`, `town`, `driver`, `elsewhere`, `pages`.
* Agreement with originals: `verdicts`, `workbench`, `plancraft`, `whoandwhen`; with providers:
  `providers`.
* Instances of repair from fixes: `repair`.
"""
