"""Every operation of the description, called once with each generated client against a running service."""

from __future__ import annotations

from typing import Any

import pytest

from clients.generate.description import Named, Operation
from testing.clients.drivers import Driver
from testing.clients.walk import WALK
from testing.contract.description import validate, without_undescribed_keys
from testing.service.running import Service
from tests.clients.conftest import Account

pytestmark = pytest.mark.slow


def test_each_client_walks_every_operation(
    sort: str,
    drive: Driver,
    service: Service,
    account: Account,
    described: dict[str, Any],
    operations: dict[str, Operation],
) -> None:
    known = {
        "email": account.email,
        "password": account.password,
        "apiKey": account.api_key,
        "domain": f"links-of-{account.email.partition('@')[0]}.example",
    }
    came = drive([(service.url, step) for step in WALK], known)

    differences = [
        (step.call, answer["error"], step.error)
        for step, answer in zip(WALK, came, strict=True)
        if answer.get("error") != (list(step.error) if step.error else None)
    ]
    assert differences == []
    closed = without_undescribed_keys(described)
    for answer in came:
        check(answer, operations[answer["call"]], closed, sort)


def check(answer: dict[str, Any], operation: Operation, closed: dict[str, Any], sort: str) -> None:
    """The answer has the type that the client promises, which is the schema of its name."""
    if "answer" in answer:
        assert isinstance(operation.result, Named)
        validate(closed, {"$ref": f"#/components/schemas/{operation.result.name}"}, answer["answer"])
    elif "rows" in answer:
        assert operation.rows is not None
        assert isinstance(operation.rows.item, Named)
        item = {"$ref": f"#/components/schemas/{operation.rows.item.name}"}
        validate(closed, {"type": "array", "items": item}, answer["rows"])
    elif "bytes" in answer:
        assert answer["bytes"] > 0
    else:
        _, code = answer["error"]
        name = "ApiError" if sort == "typescript" else "".join(map(str.capitalize, code.split("_")))
        assert answer["type"] == name
        assert answer["request"]


def test_the_walk_has_a_step_for_each_operation(operations: dict[str, Operation]) -> None:
    steps = {step.call for step in WALK}
    assert steps == set(operations), "Each operation needs a step in testing/clients/walk.py."
