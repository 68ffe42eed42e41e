"""The decorator of all public views: allowed methods, and the response if the service cannot decide."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.db import Error
from django.http import HttpRequest, HttpResponse

from common.database import is_outage
from common.errors import Unavailable
from common.host.metrics import count_database_error
from pages.refusals import METHOD_NOT_ALLOWED
from pages.responses import refuse
from redirects import refusals

Rest = ParamSpec("Rest")
View = Callable[Concatenate[HttpRequest, Rest], HttpResponse]


def guarded(*methods: str) -> Callable[[View[Rest]], View[Rest]]:
    """Allow only ``methods``. Django's own decorators reply to others with an empty page."""

    def guard(view: View[Rest]) -> View[Rest]:
        @wraps(view)
        def answer(request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
            if request.method not in methods:
                response = refuse(request, METHOD_NOT_ALLOWED)
                response["Allow"] = ", ".join(methods)
                return response
            try:
                return view(request, *args, **kwargs)
            except Error as error:
                count_database_error("redirect")
                if not is_outage(error):
                    raise
                return refuse(request, refusals.UNAVAILABLE)
            except Unavailable:
                return refuse(request, refusals.UNAVAILABLE)

        return answer

    return guard
