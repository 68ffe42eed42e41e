"""A subject whose attempts another process deletes between their refusal and the question how long to wait."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from common.errors import TooManyAttempts
from limits.attempts import Limit, spend_attempt

LIMIT = Limit(attempts=1, seconds=60)


def delete_before_read(execute: Callable[..., Any], query: str, *arguments: Any) -> Any:
    if read := re.match(r"\s*SELECT .*\sFROM (\w+_attemptlog)", query, re.DOTALL):
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {read[1]}")
    return execute(query, *arguments)


def test_refused_subject_that_was_deleted_meanwhile_may_retry_after_one_second(db: None) -> None:
    spend_attempt("subject", LIMIT)

    with connection.execute_wrapper(delete_before_read), pytest.raises(TooManyAttempts) as refusal:
        spend_attempt("subject", LIMIT)

    assert refusal.value.retry_after == 1
    spend_attempt("subject", LIMIT)
