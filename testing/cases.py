"""Many cases of one test with the same fixtures: creating them takes longer than most requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import update_wrapper
from inspect import Parameter, Signature, signature
from typing import Any

import pytest
from django.db import connection, transaction

from links.destinations.lookup import destinations

Test = Callable[..., None]


def for_each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but all cases share the fixtures. Each case that fails is reported.

    What a case writes is rolled back, unless the test has transactions of its own. A test whose cases change anything
    else, such as settings, the journal or the cookies of a client, needs `parametrize`.
    """
    parameters = [names] if isinstance(names, str) else [*names]
    rows = [[case] if isinstance(names, str) else [*case] for case in cases]
    assert rows

    def decorate(test: Test) -> Test:
        wanted = {*signature(test).parameters} - {*parameters}

        def run(subtests: pytest.Subtests, **fixtures: Any) -> None:
            if "subtests" in wanted:
                fixtures["subtests"] = subtests
            for row in rows:
                case = dict(zip(parameters, row, strict=True))
                with subtests.test(**case), _rolled_back():
                    test(**fixtures, **case)

        update_wrapper(run, test)
        # pytest passes the fixtures that the signature names.
        run.__signature__ = Signature(  # type: ignore[attr-defined]
            [Parameter(name, Parameter.KEYWORD_ONLY) for name in sorted(wanted | {"subtests"})]
        )
        return run

    return decorate


@contextmanager
def _rolled_back() -> Iterator[None]:
    if not connection.in_atomic_block:
        yield
        return
    try:
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
    finally:
        destinations().clear()
