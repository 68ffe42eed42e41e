"""Bad manners of the provider: answers that are malformed, huge, slow, forged or lead elsewhere.

`Provider.behave` takes them by the name of the answer (``configuration``, ``token``, ``keys`` or ``userinfo``):

- ``body``, ``status`` and ``headers`` replace those of the answer; ``huge`` is a number of bytes instead of a body.
- ``changes`` replace members of its JSON object. A member that becomes "(absent)" is removed.

``identity_token`` changes the token in the answer ``token``: ``claims`` and ``header`` as above, and ``signature`` is
"rogue", "none" or "secret" instead of that of the provider's key. ``new_key`` replaces the key itself, and
``more_of_key``, of ``keys``, is a further member of each key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

ABSENT = "(absent)"
MANNERS: dict[str, Any] = {}
# PEM. The server sets it.
signing_key = ""

_ANSWERS = {
    "/.well-known/openid-configuration": "configuration",
    "/token/": "token",
    "/.well-known/jwks.json": "keys",
    "/userinfo/": "userinfo",
}
_rogue_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_new_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_NEW_KEY_ID = "the new key"


class Misbehaving:
    """Wraps the WSGI application of the provider."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == "/manners":
            MANNERS.clear()
            MANNERS.update(json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))))
            start_response("200 OK", [])
            return []
        name = next((name for end, name in _ANSWERS.items() if path.endswith(end)), "")
        manners = MANNERS.get(name, {})
        is_forged = name == "token" and "identity_token" in MANNERS
        if not (manners or is_forged or (name == "keys" and "new_key" in MANNERS)):
            return self._application(environ, start_response)
        honest: list[Any] = []
        body = b"".join(self._application(environ, lambda *answer: honest.extend(answer)))
        status, headers = honest[0], dict(honest[1])
        if status.startswith("200"):
            body = _changed(name, body, manners)
        if "huge" in manners:
            body = b" " * manners["huge"]
        if "body" in manners:
            body = manners["body"].encode("utf-8", "surrogatepass")
        headers |= {"Content-Length": str(len(body))} | manners.get("headers", {})
        shown = {name: value for name, value in headers.items() if value != ABSENT}
        start_response(manners.get("status", status), [*shown.items()])
        return [body]


def _changed(name: str, body: bytes, manners: dict[str, Any]) -> bytes:
    answer = json.loads(body)
    if name == "token" and "identity_token" in MANNERS:
        answer["id_token"] = _forged(answer["id_token"], **MANNERS["identity_token"])
    if name == "keys" and "new_key" in MANNERS:
        key = jwt.algorithms.RSAAlgorithm.to_jwk(_new_key.public_key(), as_dict=True)
        answer = {"keys": [{**key, "kid": _NEW_KEY_ID, "use": "sig"}]}
    if name == "keys" and "more_of_key" in manners:
        answer["keys"] = [{**key, "more": manners["more_of_key"]} for key in answer["keys"]]
    return json.dumps(_apply(answer, manners.get("changes", {}))).encode()


def _apply(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**values, **changes}.items() if value != ABSENT}


def _forged(
    token: str,
    *,
    claims: dict[str, Any] | None = None,
    header: dict[str, Any] | None = None,
    signature: str = "own",
) -> str:
    payload = _apply(jwt.decode(token, options={"verify_signature": False}), claims or {})
    headers = jwt.get_unverified_header(token)
    keys: dict[str, tuple[Any, str]] = {
        "own": (signing_key, headers["alg"]),
        "rogue": (_rogue_key, headers["alg"]),
        "new": (_new_key, headers["alg"]),
        "none": (None, "none"),
        "secret": ("a secret of sufficient length for a signature", "HS256"),
    }
    if signature == "new":
        headers["kid"] = _NEW_KEY_ID
    key, algorithm = keys[signature]
    headers = _apply(headers | {"alg": algorithm}, header or {})
    return jwt.PyJWS().encode(json.dumps(payload).encode(), key, algorithm, headers)
