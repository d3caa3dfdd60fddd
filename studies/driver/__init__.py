"""What one driver carries, and how many are needed: `python -m studies.driver`.

`costs` measures what the driver's processor does for a call, a run and a jail on this machine;
`simulation` is a queue with these as its service times; `reality` runs the engine beside it. The
rules are in `simulation`, and were there before any result: docs/research/driver.md has both.
"""

from __future__ import annotations

__all__: list[str] = []
