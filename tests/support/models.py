"""What scripted models were asked."""

from coterie.runtime.doubles import ScriptedModel


def questions(model: ScriptedModel, agent: str) -> list[str]:
    """Return what an agent was asked, each time; its instructions name it in brackets."""
    conversations = [call.body["messages"] for call in model.calls]
    return [
        conversation[1]["content"]
        for conversation in conversations
        if f"[{agent}]" in conversation[0]["content"]
    ]
