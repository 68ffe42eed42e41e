"""Parsing of destinations."""

import pytest

from common.http.urls import InvalidDestination, canonical_destination


def refusal(raw: str) -> str:
    with pytest.raises(InvalidDestination) as raised:
        canonical_destination(raw)
    return raised.value.code
