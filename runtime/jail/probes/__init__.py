"""The attacks of the battery: what a hostile cell of Python tries in a jail.

Each is a cell whose last value is its gain, falsy if it gained nothing; a cell that fails gained
nothing either. If only the host can see the gain, `check` returns it. After each attack, the host
also looks for harm to its own targets. Cells have the variables of the battery's scene, and two
functions: `call(name, *arguments)` makes a system call and returns None if the kernel refuses it,
`all_processes()` returns all possible process ids.
"""

from .files import FILES
from .kernel import KERNEL
from .keys import KEYS
from .network import NETWORK
from .probe import Probe
from .processes import PROCESSES
from .resources import RESOURCES

__all__ = ["PROBES", "Probe"]

PROBES: tuple[Probe, ...] = (*FILES, *KEYS, *PROCESSES, *NETWORK, *RESOURCES, *KERNEL)
"""All attacks, the quick ones first."""
