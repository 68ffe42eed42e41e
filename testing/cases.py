"""Many cases of one test with the same fixtures: creating them takes longer than most requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import update_wrapper
from inspect import Parameter, Signature, signature
from typing import Any, NamedTuple

import pytest
from django.db import connection, transaction

from links.destinations.lookup import destinations

Test = Callable[..., None]


class Case(NamedTuple):
    labels: tuple[str, ...]
    arguments: dict[str, Any]


class Tested(NamedTuple):
    decorated: Test
    function: Test
    cases: list[Case]


def for_each(
    names: str | Sequence[str], cases: Iterable[Any], *, ids: Iterable[str] = ()
) -> Callable[[Test], Test]:
    """Parametrize like `pytest.mark.parametrize`, but all cases share the fixtures. Each case that fails is reported.

    What a case writes is rolled back, unless the test has transactions of its own. A test needs `parametrize` if a
    case would notice what else another one has changed: settings, cookies of a client, caches of the process.
    """
    parameters = [names] if isinstance(names, str) else [*names]
    values = [[case] if isinstance(names, str) else case for case in cases]
    labels = [(name,) for name in ids] or [()] * len(values)
    rows = [
        Case(label, dict(zip(parameters, row, strict=True)))
        for label, row in zip(labels, values, strict=True)
    ]
    assert rows

    def decorate(test: Test) -> Test:
        # Two decorators of one test are combined, because nested subtests would report only the inner arguments.
        tested: Tested = getattr(test, "tested", Tested(test, test, [Case((), {})]))
        assert tested.decorated is test, "Another decorator is between two `for_each`."
        assert not {*parameters} & {*tested.cases[0].arguments}
        combined = [
            Case(outer.labels + inner.labels, outer.arguments | inner.arguments)
            for outer in rows
            for inner in tested.cases
        ]
        wanted = {*signature(tested.function).parameters} - {*combined[0].arguments}

        def run(subtests: pytest.Subtests, pytestconfig: pytest.Config, **fixtures: Any) -> None:
            given = {"subtests": subtests, "pytestconfig": pytestconfig}
            fixtures |= {name: given[name] for name in wanted & {*given}}
            deadline = time.monotonic() + float(pytestconfig.getini("timeout"))
            for case in combined:
                with subtests.test(", ".join(case.labels) or None, **case.arguments), _rolled_back():
                    tested.function(**fixtures, **case.arguments)
                if time.monotonic() > deadline:
                    # The timeout of the test has ended this case, and would not end another one.
                    return

        update_wrapper(run, test)
        decorated: Any = run
        decorated.tested = Tested(run, tested.function, combined)
        # pytest passes the fixtures that the signature names.
        decorated.__signature__ = Signature(
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
