"""The workplace as tools for agents."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runtime.tools import Tool, ToolError, Toolkit
from ...schema.values.values import is_list, is_mapping
from .domains import DOMAINS
from .operation import Workplace
from .table import is_missing
from .tables import load_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...runtime.repository.workspace import Workspace
    from .operation import Operation

_WORKPLACE = "workbench"
_VALUES = ["string", "number", "null"]
"""The accepted types of an argument. The original checks nothing; a number stays a number."""


def toolkit_name(domain: str) -> str:
    """Return the name of a domain's toolkit."""
    return f"workbench_{domain}"


def _toolkit(domain: str) -> Toolkit:
    tools = tuple(_tool(operation) for operation in DOMAINS[domain])
    return Toolkit(name=toolkit_name(domain), tools=tools)


def _tool(operation: Operation) -> Tool:
    async def run(arguments: Mapping[str, Any], workspace: Workspace) -> Any:
        return _as_json(operation.call(_workplace(operation, workspace), **arguments))

    properties = {
        name: {"type": _VALUES, "description": about}
        for name, about in operation.parameters.items()
    }
    return Tool(
        name=operation.name,
        description=operation.about,
        parameters={"type": "object", "properties": properties, "additionalProperties": False},
        run=run,
        keeps_state=True,
    )


def _workplace(operation: Operation, workspace: Workspace) -> Workplace:
    """Return the agent's own workplace, created with its first call."""
    options = workspace.home.task.scorer.options
    folder, toolkits = options.get("folder"), options.get("toolkits")
    if workspace.home.task.scorer.name != "workbench" or not isinstance(folder, str):
        raise ToolError(
            f"{operation.name} works only in tasks of the benchmark workbench, and this is none."
            " Go on without it."
        )
    domain = operation.name.partition(".")[0]
    if not is_list(toolkits) or domain not in toolkits:
        raise ToolError(f"{operation.name} is not available in this task. Go on without it.")
    if _WORKPLACE not in workspace.tool_state:
        workspace.tool_state[_WORKPLACE] = Workplace(load_tables(Path(folder)))
    return workspace.tool_state[_WORKPLACE]


def _as_json(value: Any) -> Any:
    """Return a result as JSON: a missing cell is null, a time is text."""
    if is_mapping(value):
        return {name: _as_json(item) for name, item in value.items()}
    if is_list(value):
        return [_as_json(item) for item in value]
    if isinstance(value, datetime):
        return str(value)
    return None if is_missing(value) else value


ANALYTICS = _toolkit("analytics")
CALENDAR = _toolkit("calendar")
COMPANY_DIRECTORY = _toolkit("company_directory")
CUSTOMER_RELATIONSHIP_MANAGER = _toolkit("customer_relationship_manager")
EMAIL = _toolkit("email")
PROJECT_MANAGEMENT = _toolkit("project_management")

TOOLKITS = tuple(toolkit_name(domain) for domain in DOMAINS)
"""The names of all six."""
