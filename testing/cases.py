"""Many cases of one test with the same fixtures: creating them takes longer than most requests."""

from __future__ import annotations

import time
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

    What a case writes is rolled back, unless the test has transactions of its own. A test needs `parametrize` if a
    case would notice what else another one has changed: settings, cookies of a client, caches of the process.
    """
    parameters = [names] if isinstance(names, str) else [*names]
    rows = [[case] if isinstance(names, str) else [*case] for case in cases]
    assert rows

    def decorate(test: Test) -> Test:
        wanted = {*signature(test).parameters} - {*parameters}

        def run(subtests: pytest.Subtests, pytestconfig: pytest.Config, **fixtures: Any) -> None:
            given = {"subtests": subtests, "pytestconfig": pytestconfig}
            fixtures |= {name: given[name] for name in wanted & {*given}}
            deadline = time.monotonic() + float(pytestconfig.getini("timeout"))
            for row in rows:
                case = dict(zip(parameters, row, strict=True))
                with subtests.test(**case), _rolled_back():
                    test(**fixtures, **case)
                if time.monotonic() > deadline:
                    # The timeout of the test has ended this case, and would not end another one.
                    return

        update_wrapper(run, test)
        # pytest passes the fixtures that the signature names.
        run.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                Parameter(name, Parameter.KEYWORD_ONLY)
                for name in sorted(wanted | {"subtests", "pytestconfig"})
            ]
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
            # As at the end of a test: the rollback discards deferred checks.
            if not connection.needs_rollback and connection.is_usable():
                connection.check_constraints()
            transaction.set_rollback(True)
    finally:
        # It does not learn of the rollback.
        destinations().clear()
