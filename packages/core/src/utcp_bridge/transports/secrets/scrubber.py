"""Keeping secrets in: every known secret is replaced, by its value, in whatever leaves the core.

By value and not by the name of a field: a key in a URL, in the body of an error page or in the echo of a server has no
name that could be looked for.
"""

from __future__ import annotations

import base64
import html
import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from utcp_bridge.transports.secrets.fields import basic_credentials, secrets_of

PLACEHOLDER = "***"

# Anything shorter, or as common as these, stands in too many texts for other reasons.
_SHORTEST = 4
_COMMON = frozenset(
    {
        *("admin", "anonymous", "application", "bearer", "default", "demo", "disabled", "enabled", "example", "false"),
        *("guest", "http", "https", "json", "localhost", "none", "null", "password", "production", "public", "root"),
        *("secret", "staging", "string", "test", "text", "token", "true", "undefined", "user", "utf-8"),
        "127.0.0.1",
    }
)
_COMMON_SHAPES = re.compile(r"\d{1,5}|[a-z]{2,3}[-_][A-Za-z]{2,4}|https?://[^/?#@]*/?|\W+")
# Below this length a secret is only replaced where it is a word of its own, so that `test1` spares `latest10`.
_SURE_LENGTH = 8

# Of blocks with a `mimeType`, as HTTP and MCP replies have them.
_BASE64_KEYS = frozenset({"blob", "data"})


class SecretScrubber:
    """Knows secrets and replaces them with `***`, also where they are percent-encoded, in base64 or escaped.

    Safe to use from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: frozenset[str] = frozenset()
        self._plain: tuple[str, ...] = ()
        self._encoded: tuple[re.Pattern[str], ...] = ()
        self._words: re.Pattern[str] | None = None
        self._streamed: tuple[frozenset[str], frozenset[str], int] | None = None

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"<SecretScrubber of {len(self._known)} secrets>"

    def add(self, value: object) -> None:
        """Remember a secret; values shorter than four characters, or trivially common ones, are not."""
        if isinstance(value, str):
            self._add(value)

    def add_basic(self, username: str, password: str) -> None:
        """Remember a password, alone and as HTTP Basic authentication (RFC 7617) sends it.

        Without a password the user name is the secret: so do services that take a key in its place.
        """
        self._add(password or username)
        pair = f"{username}:{password}"
        for encoding in ("utf-8", "latin-1"):  # the second is aiohttp's
            with suppress(UnicodeEncodeError):
                sent = base64.b64encode(pair.encode(encoding)).decode()
                if len(sent) >= _SURE_LENGTH:
                    self._add(sent)

    def add_template(self, template: Any) -> None:
        """Remember what is secret in a call template whose variables are filled in.

        Auth fields; headers, environment variables and options of a command named like secrets; keys and passwords
        within URLs; and what HTTP Basic authentication makes of them.
        """
        for value in secrets_of(template):
            self._add(value)
        for username, password in basic_credentials(template):
            self.add_basic(username, password)

    def scrub(self, text: str) -> str:
        """The text with every known secret replaced."""
        for form in self._plain:
            if form in text:
                text = text.replace(form, PLACEHOLDER)
        if "%" in text or "+" in text:
            for pattern in self._encoded:
                text = pattern.sub(PLACEHOLDER, text)
        return self._words.sub(PLACEHOLDER, text) if self._words else text

    def scrub_value(self, value: Any) -> Any:
        """A JSON value with every known secret replaced, keys included; the value itself if it holds none."""
        if not self._known:
            return value
        return self._scrub_value(value)

    def begun(self, text: str) -> int:
        """How many characters at the end of a text must wait for what follows, for a secret may begin in them."""
        forms, beginnings, longest = self._for_streams()
        size = next((size for size in range(min(longest, len(text)), 0, -1) if text[-size:] in beginnings), 0)
        if not size:
            return 0
        cut = len(text) - size
        # A secret that is complete is not cut in two.
        spans = [match.span() for form in forms for match in re.finditer(re.escape(form), text)]
        while over := [start for start, end in spans if start < cut < end]:
            cut = min(over)
        return len(text) - cut

    def _for_streams(self) -> tuple[frozenset[str], frozenset[str], int]:
        known = self._streamed
        if known is None:
            plain = {form for secret in self._known for form in _forms(secret)}
            # As the pieces of a reply that is no text are looked at.
            forms = frozenset(plain | {form.encode().decode("latin-1") for form in plain})
            beginnings = frozenset(form[:end] for form in forms for end in range(1, len(form)))
            known = self._streamed = forms, beginnings, max(map(len, beginnings), default=0)
        return known

    def _scrub_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.scrub(value)
        if type(value) is dict:
            scrubbed = {self._scrub_value(key): self._scrub_value(item) for key, item in value.items()}
            if "mimeType" in value:
                scrubbed |= {key: self._scrub_base64(value[key]) for key in _BASE64_KEYS & value.keys()}
            return scrubbed if scrubbed != value else value
        if type(value) in (list, tuple):
            items = [self._scrub_value(item) for item in value]
            return type(value)(items) if any(new is not old for new, old in zip(items, value, strict=True)) else value
        return self._scrub_bytes(value) if isinstance(value, (bytes, bytearray)) else value

    def _scrub_bytes(self, value: bytes | bytearray) -> bytes | bytearray:
        text = value.decode("latin-1")
        for form in self._plain:
            if not form.isascii():
                text = text.replace(form.encode().decode("latin-1"), PLACEHOLDER)
        clean = type(value)(self.scrub(text).encode("latin-1"))
        return value if clean == value else clean

    def _scrub_base64(self, value: Any) -> Any:
        """The bytes of a block, which stand in it as base64, wherever in them a secret begins."""
        try:
            content = base64.b64decode(value, validate=True)
        except (TypeError, ValueError):
            return self._scrub_value(value)
        clean = self._scrub_bytes(content)
        return value if clean is content else base64.b64encode(clean).decode("ascii")

    def _add(self, value: str) -> None:
        if not _is_secret(value) or value in self._known:
            return
        with self._lock:
            self._known |= {value}
            self._streamed = None
            forms = sorted({form for known in self._known for form in _forms(known)}, key=len, reverse=True)
            words = [form for form in forms if len(form) < _SURE_LENGTH]
            self._plain = tuple(form for form in forms if len(form) >= _SURE_LENGTH)
            self._encoded = tuple(
                _percent_encoded(known)
                for known in sorted(self._known, key=len, reverse=True)
                if quote(known, safe="") != known
            )
            self._words = (
                re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, words))})(?![A-Za-z0-9])") if words else None
            )


class StreamScrubber:
    """Replaces secrets in a reply that comes in pieces, where one may begin in a piece and go on in the next.

    What may be the beginning of a secret is held back until the next piece shows whether it is. A secret that is
    scattered over the fields of several JSON values is not found.

    Args:
        secrets: What to replace.
    """

    def __init__(self, secrets: SecretScrubber) -> None:
        self._secrets = secrets
        self._held: Any = None

    def feed(self, piece: Any) -> Iterator[Any]:
        """The pieces that can be handed on now that this one has come."""
        held, self._held = self._held, None
        if held is not None and type(held) is type(piece):
            piece = held + piece
        elif held is not None:
            yield self._secrets.scrub_value(held)
        if type(piece) in (str, bytes) and (
            begun := self._secrets.begun(piece if isinstance(piece, str) else piece.decode("latin-1"))
        ):
            piece, self._held = piece[:-begun], piece[-begun:]
            if not piece:
                return
        yield self._secrets.scrub_value(piece)

    def end(self) -> Iterator[Any]:
        """What was held back when there is no piece any more."""
        if self._held is not None:
            yield self._secrets.scrub_value(self._held)
            self._held = None


def _is_secret(value: str) -> bool:
    value = value.strip()
    return len(value) >= _SHORTEST and value.lower() not in _COMMON and not _COMMON_SHAPES.fullmatch(value)


def _forms(secret: str) -> Iterator[str]:
    """A secret in every spelling in which it may come back."""
    yield secret
    yield secret.strip()
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield json.dumps(json.dumps(secret))[3:-3]
    yield repr(secret)[1:-1]
    yield html.escape(secret)
    encoded_bytes = base64.b64encode(secret.encode())
    if len(encoded_bytes) >= _SURE_LENGTH:
        yield encoded_bytes.decode()
        yield encoded_bytes.decode().rstrip("=")


def _percent_encoded(secret: str) -> re.Pattern[str]:
    """A secret with any of its characters percent-encoded, as the parts of a URL allow different ones."""
    parts = []
    for character in secret:
        # The encoded one first, for a `%` that is not encoded is also the start of one that is.
        spellings = ["".join(f"%(?i:{byte:02x})" for byte in character.encode()), re.escape(character)]
        if character == " ":
            spellings.append(r"\+")
        parts.append(f"(?:{'|'.join(spellings)})")
    return re.compile("".join(parts))
