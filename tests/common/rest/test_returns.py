"""What actions return, as `returns` declares it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from common.openapi.responses import Representation, count, text
from common.rest.returns import Version, returns

LINK = Representation("Link", text("code", None, "db8xua6"))
TOTAL = count("total")
VERSION = Version(datetime(2030, 3, 2, 17, 5, 41, 654321, tzinfo=UTC))


def response_of(
    declare: Callable[[Any], Callable[..., Response]], values: Any, *, is_readable: bool = False
) -> Response:
    view = SimpleNamespace(access={"retrieve": None} if is_readable else {})
    return declare(lambda view, request, *args, **path: values)(view, APIRequestFactory().post("/api/links"))


def test_the_values_are_the_data_of_the_response() -> None:
    response = response_of(returns(201, "Created.", link=LINK), {"link": {"code": "a"}})
    assert (response.status_code, list(response.data.items())) == (
        201,
        [("success", True), ("message", "Created."), ("data", {"link": {"code": "a"}})],
    )


def test_a_creation_names_the_address_of_an_object_that_can_be_read() -> None:
    values = {"link": {"_id": "019a"}, "domain": {"_id": "019b"}}
    created = returns(201, "Created.", link=LINK)
    assert response_of(created, dict(values), is_readable=True)["Location"] == "/api/links/019a"
    assert "Location" not in response_of(created, dict(values))
    assert "Location" not in response_of(returns(200, link=LINK), dict(values), is_readable=True)


def test_keys_beside_the_data_are_not_in_it() -> None:
    response = response_of(returns(200, link=LINK, beside=[TOTAL]), {"link": {}, "total": 3})
    assert response.data == {"success": True, "total": 3, "data": {"link": {}}}
    assert response_of(returns(200, beside=[TOTAL]), {"total": 3}).data == {"success": True, "total": 3}


def test_an_action_may_return_nothing() -> None:
    assert response_of(returns(200, "Deleted."), None).data == {"success": True, "message": "Deleted."}


def test_a_returned_message_replaces_the_declared_one() -> None:
    response = response_of(returns(200, "One code was dropped."), {"message": "Deleted."})
    assert response.data == {"success": True, "message": "Deleted."}


def test_the_version_of_the_object_is_the_etag() -> None:
    response = response_of(returns(200, link=LINK, has_etag=True), ({"link": {}}, VERSION))
    assert response["ETag"] == '"6bedbe6ecbf31"'
    with_state = ({"link": {}}, VERSION._replace(state="1f-active"))
    assert (
        response_of(returns(200, link=LINK, has_etag=True), with_state)["ETag"] == '"6bedbe6ecbf31-1f-active"'
    )
    assert response.data == {"success": True, "data": {"link": {}}}


def test_a_finished_response_stays_as_it_is() -> None:
    finished = Response({"success": True}, status=202)
    assert response_of(returns(200, "Created.", link=LINK, has_etag=True), finished) is finished


def test_the_declaration_stays_with_the_action() -> None:
    @returns(201, "Created.", links=[LINK], pagination=TOTAL, fields=[text("next", None)])
    def create(view: Any, request: Any) -> dict[str, Any]:
        raise NotImplementedError

    returned: Any = create.returned  # type: ignore[attr-defined] # the decorator sets it
    assert (returned.status, returned.message, returned.has_etag) == (201, "Created.", False)
    assert [field.name for field in returned.data] == ["next", "links", "pagination"]
    assert create.__name__ == "create"
