"""The customer records: four tools over the customers."""

from __future__ import annotations

from typing import Any

from ..operation import Workplace, changes, reads
from ..searching import bounded, containing, delete

LONGEST_LIST = 5
STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")
FIELDS = (
    "customer_name",
    "assigned_to_email",
    "customer_email",
    "customer_phone",
    "last_contact_date",
    "product_interest",
    "status",
    "notes",
    "follow_up_by",
)
_ID = "The customer's id, eight digits, such as 00000042."
_PATTERN = "A regular expression, in any case."
_STATUS = f"One of {', '.join(STATUSES)}."
_PRODUCT = f"One of {', '.join(PRODUCTS)}."


def _choices(names: tuple[str, ...]) -> str:
    return f"Please choose from: {', '.join(map(repr, names))}"


@reads(
    customer_name=f"Occurs in the name. {_PATTERN}",
    customer_email=f"Occurs in the address. {_PATTERN}",
    product_interest=f"Occurs in the product. {_PATTERN}",
    status=f"Occurs in the status. {_PATTERN}",
    assigned_to_email=f"Occurs in the address of the one in charge. {_PATTERN}",
    last_contact_date_min="Last contact on this day or later, as YYYY-MM-DD.",
    last_contact_date_max="Last contact on this day or earlier, as YYYY-MM-DD.",
    follow_up_by_min="Follow-up due on this day or later, as YYYY-MM-DD.",
    follow_up_by_max="Follow-up due on this day or earlier, as YYYY-MM-DD.",
)
def search_customers(  # noqa: PLR0917 - calls may give arguments by place
    at: Workplace,
    customer_name: Any = None,
    customer_email: Any = None,
    product_interest: Any = None,
    status: Any = None,
    assigned_to_email: Any = None,
    last_contact_date_min: Any = None,
    last_contact_date_max: Any = None,
    follow_up_by_min: Any = None,
    follow_up_by_max: Any = None,
) -> Any:
    """Find up to five customers that fit everything that is asked for."""
    patterns = {
        "customer_name": customer_name,
        "customer_email": customer_email,
        "product_interest": product_interest,
        "status": status,
        "assigned_to_email": assigned_to_email,
    }
    spans = {
        "last_contact_date": (last_contact_date_min, last_contact_date_max),
        "follow_up_by": (follow_up_by_min, follow_up_by_max),
    }
    if not any([*patterns.values(), *(bound for span in spans.values() for bound in span)]):
        return "No search parameters provided. Please provide at least one parameter."
    table = containing(at.tables.customers, patterns)
    for column, (lowest, highest) in spans.items():
        table = bounded(table, column, lowest, highest)
    return table.records()[:LONGEST_LIST]


@changes(
    customer_id=_ID,
    field=f"Which: {', '.join(FIELDS)}.",
    new_value=f"What to write there. Status: {_STATUS} Product: {_PRODUCT}",
)
def update_customer(
    at: Workplace, customer_id: Any = None, field: Any = None, new_value: Any = None
) -> str:
    """Change one field of a customer."""
    if not customer_id or not field or not new_value:
        return "Customer ID, field, or new value not provided."
    if field == "status" and new_value not in STATUSES:
        return f"Status not valid. {_choices(STATUSES)}"
    if field == "product_interest" and new_value not in PRODUCTS:
        return f"Product interest not valid. {_choices(PRODUCTS)}"
    if field in ("customer_email", "assigned_to_email"):
        new_value = new_value.lower()
    customers = at.tables.customers
    places = customers.where("customer_id", customer_id)
    if not places:
        return "Customer not found."
    if not customers.has(field):
        return f"Field not valid. {_choices(FIELDS)}"
    at.change(customers=customers.updated(places, field, new_value))
    return "Customer updated successfully."


@changes(
    customer_name="The customer's name.",
    assigned_to_email="The address of the one in charge.",
    status=_STATUS,
    customer_email="The customer's address.",
    customer_phone="The customer's phone number.",
    last_contact_date="The day of the last contact, as YYYY-MM-DD.",
    product_interest=_PRODUCT,
    notes="What else is known.",
    follow_up_by="The day by which to follow up, as YYYY-MM-DD.",
)
def add_customer(  # noqa: PLR0917 - calls may give arguments by place
    at: Workplace,
    customer_name: Any = None,
    assigned_to_email: Any = None,
    status: Any = None,
    customer_email: Any = None,
    customer_phone: Any = None,
    last_contact_date: Any = None,
    product_interest: Any = None,
    notes: Any = "",
    follow_up_by: Any = None,
) -> str:
    """Add a customer; gives the id. Name, assignee and status must be said."""
    if not all([customer_name, assigned_to_email, status]):
        return "Please provide all required fields: customer_name, assigned_to_email, status."
    customers = at.tables.customers
    customer = {
        "customer_id": str(int(max(customers.cells("customer_id"))) + 1).zfill(8),
        "customer_name": customer_name,
        "assigned_to_email": assigned_to_email.lower(),
        "customer_email": customer_email.lower() if customer_email else customer_email,
        "customer_phone": customer_phone,
        "last_contact_date": last_contact_date,
        "product_interest": product_interest,
        "status": status,
        "notes": notes,
        "follow_up_by": follow_up_by,
    }
    at.change(customers=customers.appended(customer).renumbered())
    return customer["customer_id"]


@changes(customer_id=_ID)
def delete_customer(at: Workplace, customer_id: Any = None) -> str:
    """Remove a customer."""
    return delete(at, "Customer", customer_id)
