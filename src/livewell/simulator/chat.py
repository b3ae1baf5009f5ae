"""An endpoint that chats as OpenAI's does, with usage, and always says the same to the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from livewell.simulator.walk import generator, number_of

_WORDS = ("the", "sea", "is", "calm", "and", "a", "boat", "comes", "home", "with", "fish", "before", "night", "falls")
_SHORTEST, _LONGEST = 12, 80
_LETTERS_PER_TOKEN = 4
_TOKENS_PER_MESSAGE = 4


class _Message(BaseModel):
    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def tokens(self) -> int:
        text = self.content if isinstance(self.content, str) else to_json(self.content).decode()
        return _TOKENS_PER_MESSAGE + -(-len(text) // _LETTERS_PER_TOKEN)


class _ResponseFormat(BaseModel):
    type: str = "text"


class _Asked(BaseModel):
    """What of a request matters here; such an endpoint has dozens of options more."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(min_length=1)
    messages: list[_Message] = Field(min_length=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    response_format: _ResponseFormat = _ResponseFormat()
    stream: bool = False


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What is answered, and how many tokens it took; or why it was refused."""

    document: dict[str, Any] = field(default_factory=dict)
    tokens: int = 0
    refused: str | None = None


def reply_to(body: bytes, *, seed: int, created: int) -> Reply:
    try:
        asked = _Asked.model_validate_json(body)
    except ValidationError as error:
        return Reply(refused=f"the request makes no sense: {error.errors()[0]['msg']}")
    if asked.stream:
        return Reply(refused="stream is not supported here")
    return _reply(asked, seed, created)


def _reply(asked: _Asked, seed: int, created: int) -> Reply:
    messages = to_json(asked.messages).decode()
    chance = generator(seed, "chat", asked.model, messages)
    wanted = chance.randrange(_SHORTEST, _LONGEST)
    allowed = asked.max_completion_tokens or asked.max_tokens or _LONGEST
    words = [chance.choice(_WORDS) for _ in range(min(wanted, allowed))]
    read, written = sum(message.tokens for message in asked.messages), len(words)
    document = {
        "id": f"chatcmpl-{number_of(seed, asked.model, messages):016x}",
        "object": "chat.completion",
        "created": created,
        "model": asked.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": _content(words, asked.response_format.type)},
                "finish_reason": "stop" if wanted <= allowed else "length",
            }
        ],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }
    return Reply(document=document, tokens=read + written)


def _content(words: Sequence[str], form: str) -> str:
    text = f"{' '.join(words).capitalize()}."
    return text if form == "text" else to_json({"answer": text}).decode()
