"""Values that agents of a team read."""

from coterie.runtime.runners import AgentReport


def reports(*contents: str) -> tuple[AgentReport, ...]:
    """Return what workers report, each with these words."""
    return tuple(
        AgentReport(agent_id=f"w{number}", role="worker", content=content)
        for number, content in enumerate(contents)
    )
