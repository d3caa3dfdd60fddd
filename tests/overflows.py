"""What providers say of a prompt that is too long, or ask to wait, drawn from seeds."""

import json
from random import Random
from typing import Any

from .canned import DONE, Response, document, stream

TOO_LONG = (
    # OpenAI, its Responses, and who followed it
    "This model's maximum context length is {least} tokens. However, your messages resulted in"
    " {most} tokens. Please reduce the length of the messages.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Input tokens exceed the configured limit of {least} tokens. Your messages resulted in {most}"
    " tokens. Please reduce the length of the messages.",
    "This endpoint's maximum context length is {least} tokens. However, you requested about {most}"
    " tokens ({most} of text input). Please reduce the length of either one.",
    "This model's maximum context length is {least} tokens, but {model} was given {most}",
    # Anthropic
    "prompt is too long: {most} tokens > {least} maximum",
    "input length and `max_tokens` exceed context limit: {most} + {least} > {least}",
    # Amazon Bedrock
    "Input is too long for requested model.",
    "The model returned the following errors: Input is too long for requested model {model}.",
    "Malformed input request: expected maxLength: {least}, actual: {most}, please reformat your"
    " input and try again.",
    "Too many input tokens. Max input tokens: {least}, request input token count: {most}",
    # DashScope, Moonshot, z.ai, Cohere, MiniMax
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, {least}]",
    "Invalid request: Your request exceeded model token limit: {least}",
    "Invalid request: Your request exceeded model token limit: {least} (requested: {most})",
    "Prompt exceeds max length",
    "too many tokens: size limit exceeded by {most} tokens. Try using shorter or fewer inputs.",
    "invalid params, context window exceeds limit ({least})",
    # Servers
    "the request exceeds the available context size ({least} tokens), try increasing it",
    "request ({most} tokens) exceeds the available context size ({least} tokens)",
    "prompt too long; exceeded max context length by {most} tokens",
    "`inputs` tokens + `max_new_tokens` must be <= {least}. Given: {most} `inputs` tokens",
    "The input ({most} tokens) is longer than the model's context length ({least} tokens).",
    "Requested token count exceeds the model's maximum context length of {least} tokens.",
    "The decoder prompt (length {most}) is longer than the maximum model length of {least}.",
    "Trying to keep the first {most} tokens when context the overflows. However, the model is"
    " loaded with context length of only {least} tokens",
    # xAI, Gemini, Together
    "This model's maximum prompt length is {least} but the request contains {most} tokens.",
    "The input token count ({most}) exceeds the maximum number of tokens allowed ({least}).",
    "Input length {most} exceeds the maximum allowed input length of {least} for {model}",
)
"""Whole sentences, as they are sent."""
MODELS = ("gpt-5-mini", "meta-llama/Llama-3.1-8B", "glm-4.7", "command-a:free", "qwen3-32b@eu")


def too_long(chance: Random) -> str:
    """Return what some provider says of a prompt that is too long."""
    least = chance.choice([512, 4_096, 8_192, 30_720, 131_072, 1_048_576])
    most = least + chance.randint(1, 10**6)
    form = chance.choice(["{}", "{}", "{:,}"])
    text = chance.choice(TOO_LONG).format(
        least=form.format(least), most=form.format(most), model=chance.choice(MODELS)
    )
    return chance.choice([text, text, text.upper(), text.replace(" ", "\n", 1), f"[{text}]"])


def placed(chance: Random, text: str, wire: str, status: int, **more: Any) -> Response:
    """Put what a provider says where one or another does, whole, or streamed with status 200.

    Args:
        more: Fields of the error.
    """
    kind = chance.choice([None, "invalid_request_error", "BadRequestError", "ValidationException"])
    error = {"message": text, "type": kind, "param": None, "code": None, **more}
    failed = {"status": "failed", "error": error, "output": []}
    nested = {"message": "Provider returned error", "code": status, **more}
    nested["metadata"] = {"raw": json.dumps({"error": {"message": text}}), "provider_name": "P"}
    bodies: list[Any] = [
        {"error": error},
        {"type": "error", "error": error},
        [{"error": error}],
        {"error": {"error": error}},
        {"object": "error", **error},
        {"errors": [error], "success": False, "result": None},
        {"error": text, **more},
        {"message": text, "code": "InvalidParameter", "request_id": "7", **more},
        {"detail": text},
        {"detail": {"error": error}},
        {"detail": [{"loc": ["body", "messages"], "msg": text, "type": "value_error"}]},
        {"error": nested},
    ]
    body = chance.choice(bodies[:3] if more else bodies)
    if status != 200 or chance.random() < 0.5:
        return document(body, status)
    event = body if not isinstance(body, list) else body[0]
    forms: list[list[Any]] = [[event], [event, DONE], [f"event: error\ndata: {json.dumps(event)}"]]
    if wire == "responses":
        forms.append([{"type": "response.failed", "response": failed}])
    return stream(*chance.choice(forms))


def waiting(chance: Random, seconds: float) -> tuple[dict[str, str], dict[str, Any]]:
    """Return headers and fields of an error that ask to wait so long, as some provider writes."""
    number = chance.choice([seconds, f"{seconds}"])
    details: list[dict[str, Any]] = [{"@type": "ErrorInfo"}, {"retryDelay": f"{seconds}s"}]
    headers, fields = chance.choice(
        [
            ({"retry-after-ms": f"{seconds * 1000:.0f}"}, {}),
            ({"retry-after-ms": f"{seconds * 1000}", "retry-after": "59"}, {}),
            ({"retry-after-ms": chance.choice(["soon", "-1", "nan", ""])}, {"retry_after": number}),
            ({"retry-after": f"{seconds}"}, chance.choice([{}, {"retry_after": 59}])),
            ({}, {"retry_after": number}),
            ({}, {"metadata": {"retry_after_seconds": number}}),
            ({}, {"details": details}),
        ]
    )
    spelt = chance.choice([str, str.title, str.upper])
    return {spelt(name): value for name, value in headers.items()}, fields
