"""Providers' words for why an answer ended and why a request failed, each with its source.

A test reads each line. To teach the gateway a provider's word, add a line with its source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from .errors import Kind

_ANTHROPIC = "platform.claude.com/docs/build-with-claude/handling-stop-reasons"
_BEDROCK = "docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html"
_COHERE = "docs.cohere.com/reference/chat"
_DEEPSEEK = "api-docs.deepseek.com/api/create-chat-completion"
_GEMINI = "ai.google.dev/api/generate-content#FinishReason"
_MISTRAL = "docs.mistral.ai/api"
_OPENAI = "developers.openai.com/api/reference/resources/chat"
_OPENAI_RESPONSES = "developers.openai.com/api/reference/resources/responses"
_OPENROUTER = "openrouter.ai/docs/api-reference/overview"
_QIANFAN = "cloud.baidu.com/doc/qianfan-api/s/3m7of64lb"
_TGI = "huggingface.github.io/text-generation-inference"
_TOGETHER = "docs.together.ai/reference/chat-completions-1"
_VLLM = "github.com/vllm-project/vllm/issues/57082"
_WATSONX = "ibm.github.io/watsonx-ai-node-sdk/interfaces/0_1_x.WatsonXAI.TextGenResult-1.html"
_ZAI = "docs.z.ai/api-reference/llm/chat-completion"


class FinishWord(NamedTuple):
    """A provider's word for how an answer ended.

    Attributes:
        word: The word, in lower case and with underscores.
        means: `stop` or `tool_calls`: the answer is complete. `length`: it is cut at the limit.
            `content_filter`, or `filtered` if the word itself says more: it is incomplete.
            `failed`: there is no answer. `unsaid`: the word means nothing.
        source: Where the word is documented, or was observed.
    """

    word: str
    means: str
    source: str


class RefusalWord(NamedTuple):
    """Words by which a provider explains a failed request.

    Attributes:
        words: A part of its message, in lower case.
        kind: The kind of failure; `unpaid` is `denied` for lack of money.
        source: Where the message is documented, or was observed.
    """

    words: str
    kind: Kind | Literal["unpaid"]
    source: str


FINISH_WORDS = (
    FinishWord("stop", "stop", _OPENAI),
    FinishWord("completed", "stop", _OPENAI_RESPONSES),
    FinishWord("end_turn", "stop", _ANTHROPIC),
    FinishWord("stop_sequence", "stop", _ANTHROPIC),
    FinishWord("complete", "stop", _COHERE),
    FinishWord("eos", "stop", _TOGETHER),
    FinishWord("normal", "stop", _QIANFAN),
    FinishWord("eos_token", "stop", _TGI),
    FinishWord("tool_calls", "tool_calls", _OPENAI),
    FinishWord("function_call", "tool_calls", _OPENAI),
    FinishWord("tool_use", "tool_calls", _ANTHROPIC),
    FinishWord("tool_call", "tool_calls", _COHERE),
    FinishWord("length", "length", _OPENAI),
    FinishWord("max_output_tokens", "length", _OPENAI_RESPONSES),
    FinishWord("max_tokens", "length", _ANTHROPIC),
    FinishWord("model_context_window_exceeded", "length", _ANTHROPIC),
    FinishWord("model_length", "length", _MISTRAL),
    FinishWord("error_limit", "length", _COHERE),
    FinishWord("token_limit", "length", _WATSONX),
    FinishWord("content_filter", "content_filter", _OPENAI),
    FinishWord("refusal", "content_filter", _ANTHROPIC),
    FinishWord("content_filtered", "filtered", _BEDROCK),
    FinishWord("guardrail_intervened", "filtered", _BEDROCK),
    FinishWord("sensitive", "filtered", _ZAI),
    FinishWord("error_toxic", "filtered", _COHERE),
    FinishWord("safety", "filtered", _GEMINI),
    FinishWord("recitation", "filtered", _GEMINI),
    FinishWord("language", "filtered", _GEMINI),
    FinishWord("blocklist", "filtered", _GEMINI),
    FinishWord("prohibited_content", "filtered", _GEMINI),
    FinishWord("spii", "filtered", _GEMINI),
    FinishWord("pause_turn", "failed", _ANTHROPIC),
    FinishWord("error", "failed", _OPENROUTER),
    FinishWord("network_error", "failed", _ZAI),
    FinishWord("insufficient_system_resource", "failed", _DEEPSEEK),
    FinishWord("timeout", "failed", _COHERE),
    FinishWord("user_cancel", "failed", _COHERE),
    FinishWord("malformed_model_output", "failed", _BEDROCK),
    FinishWord("malformed_tool_use", "failed", _BEDROCK),
    FinishWord("malformed_function_call", "failed", _GEMINI),
    FinishWord("other", "failed", _GEMINI),
    FinishWord("abort", "failed", _VLLM),
    FinishWord("not_finished", "failed", _WATSONX),
    FinishWord("cancelled", "failed", _WATSONX),
    FinishWord("time_limit", "failed", _WATSONX),
    FinishWord("failed", "failed", _OPENAI_RESPONSES),
    FinishWord("incomplete", "failed", _OPENAI_RESPONSES),
    FinishWord("in_progress", "failed", _OPENAI_RESPONSES),
    FinishWord("queued", "failed", _OPENAI_RESPONSES),
    FinishWord("", "unsaid", "github.com/sgl-project/sglang/issues/3912"),
    FinishWord("null", "unsaid", "github.com/PowerShell/AIShell/issues/350"),
    FinishWord("finish_reason_unspecified", "unsaid", _GEMINI),
)
"""All known finish words. Any other word is a failure, reported by its name."""

_OPENAI_CODES = "developers.openai.com/api/docs/guides/error-codes"
_OPENCODE = "github.com/anomalyco/opencode/pull/45834"
_PI = "github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"

REFUSAL_WORDS = (
    RefusalWord("insufficient_quota", "unpaid", _OPENAI_CODES),
    RefusalWord("insufficient balance", "unpaid", "api-docs.deepseek.com/quick_start/error_codes"),
    RefusalWord("insufficient credits", "unpaid", "openrouter.ai/docs/api-reference/errors"),
    RefusalWord("credit balance is too low", "unpaid", "platform.claude.com/docs/en/api/errors"),
    RefusalWord("余额不足", "unpaid", "docs.bigmodel.cn/cn/api/api-code"),  # z.ai's code 1113
    # OpenAI, who followed it, and MiniMax
    RefusalWord("context_length", "overflow", _OPENAI_CODES),
    RefusalWord("context length", "overflow", "github.com/lmstudio-ai/examples/issues/29"),
    RefusalWord("maximum context", "overflow", "github.com/refly-ai/refly/issues/1177"),
    RefusalWord("exceeds the context window", "overflow", "github.com/openai/codex/issues/20866"),
    RefusalWord(
        "exceed the configured limit", "overflow", "github.com/archi-physics/archi/issues/497"
    ),
    RefusalWord("reduce the length of", "overflow", "github.com/THUDM/LongBench/issues/104"),
    RefusalWord("context window", "overflow", "github.com/MiniMax-AI/MiniMax-M2/issues/119"),
    # Anthropic, also through Bedrock
    RefusalWord(
        "prompt is too long", "overflow", "github.com/strands-agents/harness-sdk/issues/1912"
    ),
    RefusalWord("exceed context", "overflow", "github.com/continuedev/continue/issues/6080"),
    RefusalWord("request_too_large", "overflow", "platform.claude.com/docs/en/api/errors"),
    # Amazon Bedrock
    RefusalWord("input is too long", "overflow", "github.com/aws-samples/bedrock-chat/issues/95"),
    RefusalWord(
        "expected maxlength", "overflow",
        "github.com/ryanadoty/Amazon-Bedrock-Amazon-RDS-POC/issues/9",
    ),
    RefusalWord("too many input tokens", "overflow", _PI),
    # Alibaba's DashScope
    RefusalWord("range of input length", "overflow", _OPENCODE),
    # Moonshot
    RefusalWord("exceeded model token limit", "overflow", _PI),
    RefusalWord(
        "max length exceeded", "overflow", "github.com/MoonshotAI/MoonshotAI-Cookbook/issues/18"
    ),
    # z.ai
    RefusalWord("exceeds max length", "overflow", "github.com/zeroclaw-labs/zeroclaw/issues/4124"),
    # Cohere, and in general
    RefusalWord("too many tokens", "overflow", "github.com/cohere-ai/sandbox-topically/issues/4"),
    RefusalWord("token limit exceeded", "overflow", _PI),
    # llama.cpp, Ollama, GitHub Copilot
    RefusalWord("exceed_context", "overflow", "github.com/ggml-org/llama.cpp/pull/15870"),
    RefusalWord("available context size", "overflow", "github.com/ggml-org/llama.cpp/pull/15870"),
    RefusalWord("prompt too long", "overflow", _PI),
    RefusalWord("exceeds the limit of", "overflow", _PI),
    # xAI, Gemini, Together, and whoever serves with SGLang
    RefusalWord("maximum prompt length", "overflow", "github.com/chenyme/grok2api/issues/693"),
    RefusalWord(
        "exceeds the maximum number of tokens", "overflow",
        "github.com/google-gemini/gemini-cli/issues/9775",
    ),
    RefusalWord("`max_new_tokens` must be", "overflow", "github.com/BerriAI/litellm/issues/4934"),
    RefusalWord(
        "maximum allowed input length", "overflow",
        "github.com/mario-andreschak/FLUJO/issues/291",
    ),
    RefusalWord(
        "maximum allowed length", "overflow", "github.com/sgl-project/sglang/issues/4048"
    ),
    # vLLM, text-generation-inference, SiliconFlow, and a server of MLX
    RefusalWord(
        "maximum model length", "overflow", "github.com/xorbitsai/inference/issues/3785"
    ),
    RefusalWord(
        "`inputs` must have less than", "overflow",
        "github.com/huggingface/text-generation-inference/issues/695",
    ),
    RefusalWord("less than max_seq_len", "overflow", "github.com/langgenius/dify/issues/19394"),
    RefusalWord("prompt_too_long", "overflow", "github.com/jjang-ai/vmlx/issues/254"),
    # xAI, Gemini
    RefusalWord("incorrect api key", "denied", "github.com/continuedev/continue/issues/10778"),
    RefusalWord("invalid api key", "denied", "github.com/continuedev/continue/issues/10778"),
    RefusalWord("invalid_api_key", "denied", _OPENAI_CODES),
    RefusalWord("api key not valid", "denied", "github.com/continuedev/continue/issues/10290"),
    RefusalWord("no auth credentials", "denied", "openrouter.ai/docs/api-reference/errors"),
    # DeepSeek, Mistral, OpenRouter, Together
    RefusalWord(
        "model not exist", "unknown", "github.com/ruixingshi/deepseek-thinker-mcp/issues/3"
    ),
    RefusalWord("invalid model", "unknown", "docs.mistral.ai/api"),
    RefusalWord("not a valid model id", "unknown", "github.com/maxnowack/anthropic-proxy/issues/4"),
    RefusalWord("model_not_available", "unknown", "github.com/HeyPuter/puter/issues/3168"),
)  # fmt: skip
"""The first entry that a message contains decides, if its status does not; see `errors.kind_of`."""
