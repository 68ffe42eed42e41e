from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from common.rest.envelope import ResponseWarning, add_warnings, attach_warnings, ok, warn

RED = ResponseWarning("color", "pale", "Hard to see.")
BLUE = ResponseWarning("background", "pale", "Hard to see.")


def attached(request: Request, response: Response) -> object:
    attach_warnings(request, response)
    return response.data.get("warnings")


def test_work_that_is_retried_adds_its_warnings_once() -> None:
    request = Request(APIRequestFactory().post("/"))
    for _ in range(2):
        add_warnings(request, [RED, BLUE])
        warn(request, *RED)
    assert attached(request, ok({})) == [RED._asdict(), BLUE._asdict()]
    assert attached(request, ok({})) is None
