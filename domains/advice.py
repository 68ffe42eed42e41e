"""What can be amiss with a record: a word for programs, and one sentence of advice for people."""

from __future__ import annotations

from enum import Enum

from domains.names import registered_domain
from domains.resolver import Answer


class Amiss(Enum):
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
    Amiss.MISSING: "The record is missing: add it",
    Amiss.WRONG_VALUE: "The record has another value than the expected one: change it",
    Amiss.ALIAS: "A CNAME, perhaps a wildcard's, answers for this name: add the TXT record itself",
    Amiss.PROXIED: "The name is proxied by a CDN: switch the proxy off for this record",
    Amiss.CNAME_AT_APEX: "A CNAME at an apex hides the domain's other records: enter the addresses instead",
    Amiss.CNAME_LOOP: "The CNAMEs lead in a circle, or too far: let the name lead straight to the expected value",
    Amiss.NO_SUCH_DOMAIN: "The domain {registered} does not exist in DNS: check its spelling and registration",
    Amiss.TIMED_OUT: "The resolver timed out: try again, and look at the domain's name servers if it happens again",
    Amiss.RESOLVER_FAILED: "The resolver failed ({detail}): look at the domain's name servers and its DNSSEC",
    Amiss.TOO_LARGE: "The answers are larger than 64 KB: remove the records that are not needed",
}


def advice(amiss: Amiss, name: str, answer: Answer) -> str:
    sentence = _ADVICE[amiss].format(registered=registered_domain(name), detail=answer.detail)
    if answer.is_definite and answer.ttl:
        return (
            f"{sentence}; if you have just done so, the old answer is still cached for {answer.ttl} seconds."
        )
    return f"{sentence}."
