"""Environment variables of the tests."""

import pytest
from django.core.exceptions import ImproperlyConfigured


def refusal(call: object) -> str:
    with pytest.raises(ImproperlyConfigured) as refused:
        call()
    message = str(refused.value)
    assert "\n" not in message
    return message
