"""Forged tokens: what attackers make from a valid token's claims."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings

from common.secrets import derive_key
from testing.cases import for_each

KEY: bytes = settings.SIMPLE_JWT["SIGNING_KEY"]
HEADER = {"alg": "HS256", "typ": "JWT"}
Claims = dict[str, Any]
Forgery = Callable[[Claims], str]
NOW = int(time.time())
# After the end of all tests, however long they take.
FUTURE = NOW + 10 * 365 * 86_400


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def encode(part: object) -> str:
    return b64(part if isinstance(part, bytes) else json.dumps(part).encode())


def sign(header: object, payload: object, *, key: bytes = KEY, digest: str = "sha256") -> str:
    message = f"{encode(header)}.{encode(payload)}"
    return f"{message}.{b64(hmac.new(key, message.encode(), digest).digest())}"


def with_header(**changes: object) -> Forgery:
    return lambda claims: sign({**HEADER, **changes}, claims)


def with_claims(**changes: object) -> Forgery:
    return lambda claims: sign(HEADER, {**claims, **changes})


def without(*names: str) -> Forgery:
    return lambda claims: sign(HEADER, {name: value for name, value in claims.items() if name not in names})


def unsigned(algorithm: str, signature: str = "") -> Forgery:
    return lambda claims: f"{encode({**HEADER, 'alg': algorithm})}.{encode(claims)}.{signature}"


def keyed(key: bytes, **header: object) -> Forgery:
    return lambda claims: sign({**HEADER, **header}, claims, key=key)


def hashed(algorithm: str, digest: str) -> Forgery:
    return lambda claims: sign({**HEADER, "alg": algorithm}, claims, digest=digest)


def edited(edit: Callable[[str], str]) -> Forgery:
    return lambda claims: edit(sign(HEADER, claims))


def raw_payload(payload: bytes) -> Forgery:
    return lambda claims: sign(HEADER, payload)


def raw_header(header: bytes) -> Forgery:
    return lambda claims: sign(header, claims)


def payload_swapped(claims: Claims) -> str:
    header, _, signature = sign(HEADER, claims).split(".")
    return f"{header}.{encode({**claims, 'exp': claims['exp'] + 1})}.{signature}"


def header_swapped(claims: Claims) -> str:
    _, payload, signature = sign(HEADER, claims).split(".")
    return f"{encode({**HEADER, 'kid': '1'})}.{payload}.{signature}"


OWN_KEY_SET = {"keys": [{"kty": "oct", "k": b64(b"attacker" * 4), "alg": "HS256"}]}


FORGERIES: dict[str, Forgery] = {
    # The algorithm
    "none": unsigned("none"),
    "None": unsigned("None"),
    "NONE": unsigned("NONE"),
    "nOnE": unsigned("nOnE"),
    "none with a right signature": with_header(alg="none"),
    "none with a signature of rubbish": unsigned("none", "AAAA"),
    "no algorithm": lambda claims: sign({"typ": "JWT"}, claims),
    "null algorithm": with_header(alg=None),
    "empty algorithm": with_header(alg=""),
    "algorithm is a number": with_header(alg=256),
    "algorithm is a list": with_header(alg=["HS256"]),
    "lower-case algorithm": with_header(alg="hs256"),
    "HS384": hashed("HS384", "sha384"),
    "HS512": hashed("HS512", "sha512"),
    "HS256 that is SHA-512": hashed("HS256", "sha512"),
    "RS256 over our secret": with_header(alg="RS256"),
    "ES256 over our secret": with_header(alg="ES256"),
    "PS256 over our secret": with_header(alg="PS256"),
    "EdDSA over our secret": with_header(alg="EdDSA"),
    # The header
    "crit names an unknown extension": with_header(crit=["x-policy"], **{"x-policy": "deny"}),
    "crit names b64": with_header(crit=["b64"], b64=False),
    "crit is empty": with_header(crit=[]),
    "crit is a text": with_header(crit="exp"),
    "unencoded payload": with_header(b64=False),
    "kid is a path, key is empty": keyed(b"", kid="../../../../dev/null"),
    "kid is SQL, key is its answer": keyed(b"x", kid="' UNION SELECT 'x' --"),
    "kid is a number": with_header(kid=1),
    "jku of the forger": keyed(b"attacker" * 4, jku="https://attacker.example/keys.json", kid="1"),
    "jwk of the forger": keyed(b"attacker" * 4, jwk=OWN_KEY_SET["keys"][0]),
    "x5u of the forger": keyed(b"attacker" * 4, x5u="https://attacker.example/key.pem"),
    "header is a list": raw_header(b'["HS256"]'),
    "header is a text": raw_header(b'"HS256"'),
    "header is not JSON": raw_header(b"{'alg': 'HS256'}"),
    "header is not UTF-8": raw_header(b'{"alg":"HS256","x":"\xff"}'),
    "header is nested 100,000 deep": raw_header(b"[" * 100_000),
    # The key
    "another key": keyed(b"\1" * 32),
    "empty key": keyed(b""),
    "the installation's secret": keyed(settings.SECRET_KEY.encode()),
    "the key of another purpose": keyed(derive_key(settings.SECRET_KEY, "api-key-sealing")),
    "the key in hexadecimal": keyed(KEY.hex().encode()),
    # The times
    "expired": with_claims(exp=NOW - 1),
    "expired at the epoch": with_claims(exp=0),
    "expired before the epoch": with_claims(exp=-(10**12)),
    "never expires": without("exp"),
    "expiry is null": with_claims(exp=None),
    "expiry is a text": with_claims(exp="never"),
    "expiry is a list": with_claims(exp=[FUTURE]),
    "expiry is infinite": with_claims(exp=float("inf")),
    "expiry is no number": with_claims(exp=float("nan")),
    "expiry is beyond any calendar": with_claims(exp=10**30),
    "expiry is beyond year 9999": with_claims(exp=253_402_300_800),
    "not yet valid": with_claims(nbf=FUTURE),
    "not-before is a text": with_claims(nbf="soon"),
    "issued in the future": with_claims(iat=FUTURE),
    "issue time is a text": with_claims(iat="once"),
    # The parties
    "another audience": with_claims(aud="shortener-admin"),
    "audience is a longer name": with_claims(aud="shortener-api2"),
    "audience is null": with_claims(aud=None),
    "audiences are others": with_claims(aud=["a", "b"]),
    "no audience": without("aud"),
    "another issuer": with_claims(iss="https://attacker.example"),
    "issuer is null": with_claims(iss=None),
    "issuer is a list": with_claims(iss=["shortener"]),
    "no issuer": without("iss"),
    # The kind and the account
    "of another kind": with_claims(token_type="sliding"),
    "kind is null": with_claims(token_type=None),
    "no kind": without("token_type"),
    "no identifier": without("jti"),
    "unknown account": with_claims(sub="01890000-0000-7000-8000-000000000000"),
    "account by its primary key": with_claims(sub="1"),
    "account is a number": with_claims(sub=1),
    "account is null": with_claims(sub=None),
    "account is a list": with_claims(sub=["01890000-0000-7000-8000-000000000000"]),
    "account by its e-mail": with_claims(sub="alice@example.com"),
    "account is SQL": with_claims(sub="' OR '1'='1"),
    "account has a NUL": with_claims(sub="\0"),
    "no account": without("sub"),
    "user_id instead of sub": lambda claims: sign(
        HEADER, {**{name: value for name, value in claims.items() if name != "sub"}, "user_id": claims["sub"]}
    ),
    "unknown session": with_claims(sid="01890000-0000-7000-8000-000000000000"),
    "session by its primary key": with_claims(sid="1"),
    "session is null": with_claims(sid=None),
    "session is a number": with_claims(sid=1),
    "session is a list": with_claims(sid=["01890000-0000-7000-8000-000000000000"]),
    "session has a NUL": with_claims(sid="\0"),
    "no session": without("sid"),
    "another password": with_claims(hash_password=hashlib.md5(b"x").hexdigest().upper()),  # noqa: S324 # the digest of a claim
    "password is null": with_claims(hash_password=None),
    "password is not ASCII": with_claims(hash_password="é"),
    "password is a list": with_claims(hash_password=[]),
    "no password": without("hash_password"),
    # The text
    "empty": lambda claims: "",
    "one part": lambda claims: "abc",
    "two parts": edited(lambda token: token.rpartition(".")[0]),
    "signature left out": edited(lambda token: token.rpartition(".")[0] + "."),
    "four parts": edited(lambda token: token + ".AAAA"),
    "five parts": edited(lambda token: token + ".AAAA.AAAA"),
    "only dots": lambda claims: "..",
    "last character cut": edited(lambda token: token[:-1]),
    "first character cut": edited(lambda token: token[1:]),
    "cut in the middle": edited(lambda token: token[: len(token) // 2]),
    "signature of another token": edited(
        lambda token: token.rpartition(".")[0] + "." + sign(HEADER, {}).rpartition(".")[2]
    ),
    "signature begins otherwise": edited(
        lambda token: token.rpartition(".")[0] + "." + ("B" if token.rpartition(".")[2][0] == "A" else "A")
        + token.rpartition(".")[2][1:]
    ),
    "payload changed after signing": payload_swapped,
    "header changed after signing": header_swapped,
    "said twice": edited(lambda token: f"{token} {token}"),
    "two with a comma": edited(lambda token: f"{token}, {token}"),
    "quoted": edited(lambda token: f'"{token}"'),
    "NUL at the end": edited(lambda token: token + "\0"),
    "not ASCII": edited(lambda token: token + "é"),
    "a word": lambda claims: "null",
    "payload is a list": raw_payload(b"[]"),
    "payload is a text": raw_payload(b'"alice"'),
    "payload is null": raw_payload(b"null"),
    "payload is not JSON": raw_payload(b"alice"),
    "payload is not UTF-8": raw_payload(b'{"sub":"\xff"}'),
    "payload is nested 100,000 deep": raw_payload(b"[" * 100_000),
    "1 MB of letters": lambda claims: "a" * 1_000_000,
    "1 MB of dots": lambda claims: "." * 1_000_000,
    "1 MB of payload without signature": lambda claims: f"{encode(HEADER)}.{'A' * 1_000_000}.",
}  # fmt: skip


EACH_FORGERY = for_each("forge", FORGERIES.values(), ids=FORGERIES)
