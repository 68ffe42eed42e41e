"""An OpenID Connect issuer on the loopback interface, with keys of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from socket import socket
from threading import Event
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from testing.outbound.certificates import Authority
from testing.outbound.servers import RawServer, answering, raw_server

AUDIENCE = "https://sho.rt"
SUBJECT = "repo:acme/site:ref:refs/heads/main"
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@cache
def rsa_key(number: int = 0) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@cache
def ec_key(number: int = 0) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def public_jwk(key: PrivateKey, kid: str | None) -> dict[str, str]:
    text = (
        RSAAlgorithm.to_jwk(key.public_key())
        if isinstance(key, rsa.RSAPrivateKey)
        else ECAlgorithm.to_jwk(key.public_key())
    )
    members = {name: value for name, value in json.loads(text).items() if isinstance(value, str)}
    return members if kid is None else {**members, "kid": kid}


@dataclass
class Issuer:
    """``keys`` by their ids may change, and so may the claims of new tokens."""

    url: str
    keys: dict[str, PrivateKey] = field(default_factory=lambda: {"rsa": rsa_key(), "ec": ec_key()})
    # The paths that were requested.
    requests: list[str] = field(default_factory=list)
    # What the server answers instead.
    status: str = "200 OK"
    bodies: dict[str, Any] = field(default_factory=dict)

    @property
    def jwks(self) -> dict[str, Any]:
        return {"keys": [public_jwk(key, kid) for kid, key in self.keys.items()]}

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        claims = {"iss": self.url, "aud": AUDIENCE, "sub": SUBJECT, "iat": now, "exp": now + 300, **changes}
        return {name: value for name, value in claims.items() if value is not None}

    def token(
        self, kid: str | None = "rsa", *, key: PrivateKey | None = None, algorithm: str = "", **changes: Any
    ) -> str:
        """A token signed by the key with this id, or by another one. A claim that is None is missing."""
        signer = self.keys[kid] if key is None and kid is not None else key
        assert signer is not None
        name = algorithm or ("RS256" if isinstance(signer, rsa.RSAPrivateKey) else "ES256")
        return jwt.encode(self.claims(**changes), signer, name, {} if kid is None else {"kid": kid})

    def answer(self, connection: socket, head: bytes, stop: Event) -> None:
        path = head.split(b" ")[1].decode()
        self.requests.append(path)
        bodies = {
            "/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": f"{self.url}/keys"},
            "/keys": self.jwks,
            **self.bodies,
        }
        body = bodies[path]
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        answering(self.status, body=content)(connection, head, stop)


@contextmanager
def running_issuer(authority: Authority) -> Iterator[tuple[Issuer, RawServer]]:
    with raw_server(lambda *_: None, authority.server_context("127.0.0.1")) as server:
        issuer = Issuer(f"https://127.0.0.1:{server.port}")
        server.manner = issuer.answer
        yield issuer, server
