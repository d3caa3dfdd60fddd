"""What is kept of a run while it works: the journal, the trace and its events.

* `journal` holds every answer that was paid for; `once` holds what happens once however often a run
  is resumed; `branch` lets one run answer another where they ask the same.
* `trace` writes `events.jsonl`; `events` and `event_fields` read it.
"""
