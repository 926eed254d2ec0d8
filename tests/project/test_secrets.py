"""Keys and passwords in the project file."""

from __future__ import annotations

import traceback

import pytest

from rankproof.project import BadProject
from rankproof.project.secrets import find_secrets
from tests.project.conftest import Load

CANARY = "c4n4ry-7f3b9d2e1a"


@pytest.mark.parametrize(
    "options",
    [
        f"{{key: {CANARY}}}",
        f"{{api_key: {CANARY}}}",
        f"{{apiKey: {CANARY}}}",
        f"{{cohere_api_key: {CANARY}}}",
        f"{{password: {CANARY}}}",
        f"{{token: {CANARY}}}",
        f"{{headers: {{Authorization: {CANARY}}}}}",
        f"{{headers: {{X-Api-Key: {CANARY}}}}}",
        f"{{headers: {{X-Whatever: Bearer {CANARY}}}}}",
        f"{{dsn: 'postgresql://me:{CANARY}@db/x'}}",
        f"{{dsn: 'host=db password={CANARY}'}}",
        f"{{url: 'http://host/search?api_key={CANARY}&q=x'}}",
        f"{{anything: sk-proj-{CANARY}}}",
    ],
)
def test_a_secret_is_refused_and_never_repeated(load: Load, options: str) -> None:
    with pytest.raises(BadProject) as caught:
        load(f"gld: x\npipelines:\n  a: {{retrieve: {{finds: {options}}}}}\n")
    told = "".join(traceback.format_exception(caught.value))
    assert str(caught.value).startswith("rankproof.yaml:3: `pipelines.a.retrieve.finds.")
    assert "looks like a secret; secrets come from `key_env`" in str(caught.value)
    assert CANARY not in told
    assert CANARY not in repr(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"key_env": "COHERE_API_KEY", "key_file": "secrets/cohere.txt"},
        {"key_header": "Authorization: Bearer {key}"},
        {"headers": {"Authorization": "Bearer {key}"}},
        {"url": "http://localhost:8080/search?q={query}&limit={k}"},
        {"url": "http://localhost/search?key={key}"},
        {"dsn": "postgresql://me@db:5432/x"},
        {"max_tokens": 512, "token": 3},
        {"path": "docs/token-and-password.md"},
        {"password": ""},
    ],
)
def test_what_only_speaks_of_secrets_is_none(options: object) -> None:
    assert list(find_secrets(options)) == []
