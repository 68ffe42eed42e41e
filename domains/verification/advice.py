"""The possible problems of a DNS record: an error code for programs and a sentence of advice for people."""

from __future__ import annotations

from enum import Enum

from domains.names import registered_domain
from domains.verification.resolver import Answer


class Problem(Enum):
    MISSING = "missing"
    WRONG_VALUE = "wrong_value"
    ALIAS = "alias"
    PROXIED = "proxied"
    CNAME_AT_APEX = "cname_at_apex"
    CNAME_LOOP = "cname_loop"
    NO_SUCH_DOMAIN = "no_such_domain"
    TIMED_OUT = "timed_out"
    RESOLVER_FAILED = "resolver_failed"
    TOO_LARGE = "too_large"


_ADVICE = {
    Problem.MISSING: "The record is missing: add it",
    Problem.WRONG_VALUE: "The record has another value than the expected one: change it",
    Problem.ALIAS: "A CNAME, perhaps a wildcard's, answers for this name: add the TXT record itself",
    Problem.PROXIED: "The name is proxied by a CDN: switch the proxy off for this record",
    Problem.CNAME_AT_APEX: "A CNAME at an apex hides the domain's other records: enter the addresses instead",
    Problem.CNAME_LOOP: "The CNAME chain has a loop or is too long: point the name directly to the expected value",
    Problem.NO_SUCH_DOMAIN: "The domain {registered} does not exist in DNS: check its spelling and registration",
    Problem.TIMED_OUT: "The resolver timed out: try again, and check the domain's name servers if it happens again",
    Problem.RESOLVER_FAILED: "The resolver failed ({detail}): check the domain's name servers and DNSSEC",
    Problem.TOO_LARGE: "The answers are larger than 64 KB: remove the records that are not needed",
}


def advice(problem: Problem, name: str, answer: Answer) -> str:
    sentence = _ADVICE[problem].format(registered=registered_domain(name), detail=answer.detail)
    if answer.is_definite and answer.ttl:
        return (
            f"{sentence}; if you have just done so, the old answer is still cached for {answer.ttl} seconds."
        )
    return f"{sentence}."
