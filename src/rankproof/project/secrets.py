"""Keys and passwords that somebody wrote into the project file; they are refused, and never repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rankproof.project.validate import written
from rankproof.project.yaml_text import Place

_NAMES = {
    "key",
    "apikey",
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "authorization",
    "proxyauthorization",
    "bearer",
    "cookie",
    "credentials",
    "accesskey",
    "privatekey",
}
_ENDS = ("apikey", "password", "secret", "accesstoken", "authtoken", "secretkey", "accesskey", "privatekey")
_VALUES = re.compile(
    r"(?:sk|rk|pk)[-_](?:live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|hf_[A-Za-z0-9]{20,}|co-[A-Za-z0-9]{30,}"
    r"|(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_IN_URL = re.compile(
    r"\b[a-z][a-z0-9+.-]*://[^\s/@:]*:[^\s/@]+@|[?&](?:api_?key|key|token|secret|password)=(?!\{)[^&\s]+", re.IGNORECASE
)
_IN_DSN = re.compile(r"\bpassword\s*=\s*\S", re.IGNORECASE)
WAY_OUT = "secrets come from `key_env` (the name of an environment variable) or `key_file`, never from this file"


def find_secrets(data: Any) -> Iterator[tuple[Place, str]]:
    """The place of each value that looks like a secret, and a sentence that does not repeat it."""
    for place, value in _texts(data, ()):
        name = next((part for part in reversed(place) if isinstance(part, str)), "")
        plain = re.sub(r"[^a-z]", "", name.lower())
        # `Bearer {key}` says where a key goes and holds none.
        is_template = re.search(r"\{\w+\}|\$\{?\w+", value) is not None
        by_name = (plain in _NAMES or plain.endswith(_ENDS)) and not is_template
        if by_name or _VALUES.search(value) or _IN_URL.search(value) or _IN_DSN.search(value):
            yield place, f"{written(place)} looks like a secret; {WAY_OUT}"


def _texts(data: Any, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, (*place, key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from _texts(value, (*place, i))
    elif isinstance(data, str) and data.strip():
        yield place, data
