"""A run's record while it works: the journal, the trace and its events.

* `journal` holds every paid answer; `once` makes an action happen once however often a run is
  resumed; `branch` lets one run answer another where they ask the same.
* `trace` writes `events.jsonl`; `events` and `event_fields` read it.
"""
