"""What stands before every view of this floor: the methods it answers to, and what is said without the database."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.db import Error
from django.http import HttpRequest, HttpResponse

from common.database import is_outage
from common.metrics import count_database_error
from redirects import refusals
from redirects.pages import refuse

Rest = ParamSpec("Rest")
View = Callable[Concatenate[HttpRequest, Rest], HttpResponse]


def guarded(*methods: str) -> Callable[[View[Rest]], View[Rest]]:
    """Django's own decorators answer other methods with an empty page."""

    def guard(view: View[Rest]) -> View[Rest]:
        @wraps(view)
        def answer(request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
            if request.method not in methods:
                response = refuse(request, refusals.METHOD_NOT_ALLOWED)
                response["Allow"] = ", ".join(methods)
                return response
            try:
                return view(request, *args, **kwargs)
            except Error as error:
                count_database_error("redirect")
                if not is_outage(error):
                    raise
                return refuse(request, refusals.UNAVAILABLE)

        return answer

    return guard
