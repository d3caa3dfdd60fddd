"""The project board: five tools over the tasks."""

from __future__ import annotations

from typing import Any

from ..operation import Workplace, changes, reads
from ..searching import containing, delete, look_up

LISTS = ("Backlog", "In Progress", "In Review", "Completed")
BOARDS = ("Back end", "Front end", "Design")
_WRONG_ASSIGNEE = "Assignee email not valid. Please choose from the list of team members."
_WRONG_LIST = f"List not valid. Please choose from: {', '.join(map(repr, LISTS))}."
_WRONG_BOARD = f"Board not valid. Please choose from: {', '.join(map(repr, BOARDS))}."
_ID = "The task's id, eight digits, such as 00000042."
_FIELDS = "task_id, task_name, assigned_to_email, list_name, due_date or board"
_PATTERN = "A regular expression, in any case."


@reads(
    task_id=_ID,
    field=f"Which: {_FIELDS}.",
)
def get_task_information_by_id(at: Workplace, task_id: Any = None, field: Any = None) -> Any:
    """Give one field of a task."""
    return look_up(at.tables.tasks, "Task", task_id, field)


@reads(
    task_name=f"Occurs in the name. {_PATTERN}",
    assigned_to_email=f"Occurs in the assignee's address. {_PATTERN}",
    list_name=f"Occurs in the list's name. {_PATTERN}",
    due_date=f"Occurs in the due date, which is YYYY-MM-DD. {_PATTERN}",
    board=f"Occurs in the board's name. {_PATTERN}",
)
def search_tasks(  # noqa: PLR0917 - calls may give arguments by place
    at: Workplace,
    task_name: Any = None,
    assigned_to_email: Any = None,
    list_name: Any = None,
    due_date: Any = None,
    board: Any = None,
) -> Any:
    """Find all tasks that fit everything that is asked for."""
    wanted = {
        "task_name": task_name,
        "assigned_to_email": assigned_to_email,
        "list_name": list_name,
        "due_date": due_date,
        "board": board,
    }
    if not any(wanted.values()):
        return "No search parameters provided."
    return containing(at.tables.tasks, wanted).records()


@changes(
    task_name="What it is called.",
    assigned_to_email="The address of a team member.",
    list_name=f"One of {', '.join(LISTS)}.",
    due_date="When it is due, as YYYY-MM-DD.",
    board=f"One of {', '.join(BOARDS)}.",
)
def create_task(  # noqa: PLR0917 - calls may give arguments by place
    at: Workplace,
    task_name: Any = None,
    assigned_to_email: Any = None,
    list_name: Any = None,
    due_date: Any = None,
    board: Any = None,
) -> str:
    """Add a task; gives its id. Everything must be said."""
    if not all([task_name, assigned_to_email, list_name, due_date, board]):
        return "Missing task details."
    tasks, assignee = at.tables.tasks, assigned_to_email.lower()
    checked = {"assigned_to_email": assignee, "list_name": list_name, "board": board}
    for field, value in checked.items():
        if problem := _problem(at, field, value):
            return problem
    task = {
        "task_id": str(int(max(tasks.cells("task_id"))) + 1).zfill(8),
        "task_name": task_name,
        "assigned_to_email": assignee,
        "list_name": list_name,
        "due_date": due_date,
        "board": board,
    }
    at.change(tasks=tasks.appended(task).renumbered())
    return task["task_id"]


def _is_member(at: Workplace, email: Any) -> bool:
    """Return whether a person has a task now, which makes them a member of the team."""
    members = (cell.lower() for cell in at.tables.tasks.cells("assigned_to_email"))
    return email in members


@changes(task_id=_ID)
def delete_task(at: Workplace, task_id: Any = None) -> str:
    """Remove a task."""
    return delete(at, "Task", task_id)


@changes(
    task_id=_ID,
    field=f"Which: {_FIELDS}.",
    new_value="What to write there.",
)
def update_task(
    at: Workplace, task_id: Any = None, field: Any = None, new_value: Any = None
) -> str:
    """Change one field of a task."""
    if not task_id or not field or not new_value:
        return "Task ID, field, or new value not provided."
    if field == "assigned_to_email":
        new_value = new_value.lower()
    # The value is checked before the id and the field.
    if problem := _problem(at, field, new_value):
        return problem
    tasks = at.tables.tasks
    places = tasks.where("task_id", task_id)
    if not places:
        return "Task not found."
    if not tasks.has(field):
        return "Field not valid."
    at.change(tasks=tasks.updated(places, field, new_value))
    return "Task updated successfully."


def _problem(at: Workplace, field: Any, new_value: Any) -> str | None:
    if field == "board" and new_value not in BOARDS:
        return _WRONG_BOARD
    if field == "list_name" and new_value not in LISTS:
        return _WRONG_LIST
    if field == "assigned_to_email" and not _is_member(at, new_value):
        return _WRONG_ASSIGNEE
    return None
