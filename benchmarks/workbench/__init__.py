"""WorkBench: a workplace of five tables and 27 tools, and the original verdicts.

* `load_tables` reads the workplace; `Workplace` is one that calls change.
* `do_call` does a call given as text; `OPERATIONS` has the tools.
* `verdict` compares predicted calls with the reference's, as the original evaluator does.
"""

from .calls import do_call, do_calls
from .domains import OPERATIONS
from .operation import CallFailed, Workplace
from .tables import Tables, find_folder, load_tables
from .verdict import verdict

__all__ = [
    "OPERATIONS",
    "CallFailed",
    "Tables",
    "Workplace",
    "do_call",
    "do_calls",
    "find_folder",
    "load_tables",
    "verdict",
]
