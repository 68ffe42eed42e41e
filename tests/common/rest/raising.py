"""Views that each raise one kind of exception, with the handlers of the project."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from django.core import exceptions as django_errors
from django.db import (
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    connection,
)
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.urls import path
from rest_framework import exceptions as drf_errors
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_requests.authentication import BearerAuthentication
from common import errors
from common.errors import FieldError
from common.rest.envelope import ok
from common.rest.fields import Integer, Text
from shortener_project.urls import handler400, handler404, handler500

SECRET = "host=10.0.0.7 password=hunter2"

Raise = Callable[[], Exception]


def outlast_the_statement_timeout() -> Exception:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 1")
        cursor.execute("SELECT pg_sleep(10)")
    return AssertionError("the statement was not cancelled")


# The exception: status, code, message and required headers.
EXPECTED: dict[str, tuple[Raise, int, str, str, dict[str, str]]] = {
    "service error": (
        errors.ServiceError, 400, "bad_request", "The request cannot be carried out.", {},
    ),
    "service error with its own words": (
        lambda: errors.ServiceError("No.", code="refused"), 400, "refused", "No.", {},
    ),
    "bad body": (errors.BadBody, 400, "invalid_json", "The request body is not valid JSON.", {}),
    "forbidden": (
        errors.Forbidden, 403, "permission_denied", "You do not have permission to do this.", {},
    ),
    "not found": (lambda: errors.NotFound("URL not found."), 404, "not_found", "URL not found.", {}),
    "conflict": (errors.Conflict, 409, "conflict", "Already in use.", {}),
    "length required": (
        errors.LengthRequired, 411, "length_required", "Send a Content-Length; chunked bodies are not supported.", {},
    ),
    "body too large": (errors.BodyTooLarge, 413, "body_too_large", "The request body is too large.", {}),
    "too many attempts": (
        lambda: errors.TooManyAttempts(77, limit=10, window=900), 429, "rate_limited",
        "Too many attempts. Try again later.",
        {
            "Retry-After": "77", "RateLimit-Limit": "10", "RateLimit-Remaining": "0", "RateLimit-Reset": "77",
            "RateLimit-Policy": '"attempts";q=10;w=900', "RateLimit": '"attempts";r=0;t=77',
        },
    ),
    "too many attempts, over at once": (
        lambda: errors.TooManyAttempts(0, limit=5, window=60), 429, "rate_limited",
        "Too many attempts. Try again later.",
        {
            "Retry-After": "1", "RateLimit-Limit": "5", "RateLimit-Remaining": "0", "RateLimit-Reset": "1",
            "RateLimit-Policy": '"attempts";q=5;w=60', "RateLimit": '"attempts";r=0;t=1',
        },
    ),
    "unavailable": (
        errors.Unavailable, 503, "unavailable",
        "The service is temporarily unavailable. Try again shortly.", {"Retry-After": "2"},
    ),
    "database gone": (
        lambda: OperationalError(SECRET), 503, "unavailable",
        "The service is temporarily unavailable. Try again shortly.", {"Retry-After": "2"},
    ),
    "connection closed": (
        lambda: InterfaceError(SECRET), 503, "unavailable",
        "The service is temporarily unavailable. Try again shortly.", {"Retry-After": "2"},
    ),
    "statement timeout": (
        outlast_the_statement_timeout, 503, "unavailable",
        "The service is temporarily unavailable. Try again shortly.", {"Retry-After": "2"},
    ),
    "body that ended early": (
        lambda: UnreadablePostError(SECRET), 400, "invalid_json", "The request body ended early.", {},
    ),
    "Django's not found": (lambda: Http404(SECRET), 404, "not_found", "Not found.", {}),
    "Django's permission denied": (
        lambda: django_errors.PermissionDenied(SECRET), 403, "permission_denied",
        "You do not have permission to do this.", {},
    ),
    "Django's bad request": (
        lambda: django_errors.BadRequest(SECRET), 400, "bad_request", "The request is malformed.", {},
    ),
    "suspicious operation": (
        lambda: django_errors.SuspiciousOperation(SECRET), 400, "bad_request", "The request is malformed.", {},
    ),
    "disallowed host": (
        lambda: django_errors.DisallowedHost(SECRET), 400, "bad_request", "The request is malformed.", {},
    ),
    "too many fields": (
        lambda: django_errors.TooManyFieldsSent(SECRET), 400, "bad_request", "The request is malformed.", {},
    ),
    "not authenticated": (
        drf_errors.NotAuthenticated, 401, "not_authenticated",
        "Authentication credentials were not provided.", {"WWW-Authenticate": 'Bearer realm="api"'},
    ),
    "authentication failed": (
        lambda: drf_errors.AuthenticationFailed("The API key is not valid."), 401, "not_authenticated",
        "The API key is not valid.", {"WWW-Authenticate": 'Bearer realm="api"'},
    ),
    "DRF's permission denied": (
        drf_errors.PermissionDenied, 403, "permission_denied",
        "You do not have permission to perform this action.", {},
    ),
    "DRF's not found": (drf_errors.NotFound, 404, "not_found", "Not found.", {}),
    "DRF's parse error": (drf_errors.ParseError, 400, "bad_request", "Malformed request.", {}),
    "method not allowed": (
        lambda: drf_errors.MethodNotAllowed("PATCH"), 405, "method_not_allowed",
        'Method "PATCH" not allowed.', {},
    ),
    "unsupported media type": (
        lambda: drf_errors.UnsupportedMediaType("text/plain"), 415, "unsupported_media_type",
        'Unsupported media type "text/plain" in request.', {},
    ),
}  # fmt: skip


def break_the_sql() -> Exception:
    with connection.cursor() as cursor:
        cursor.execute("SELECT api_key FROM accounts_nothing WHERE secret = %s", [SECRET])
    return AssertionError("there is such a table")


def break_a_rule_of_the_database() -> Exception:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO accounts_user (email) VALUES (%s)", [SECRET])
    return AssertionError("there may be such a row")


def get_missing_object() -> Exception:
    Path("/etc/hunter2").read_text()
    return AssertionError("there is such a file")


BUGS: dict[str, Raise] = {
    "Exception": lambda: Exception(SECRET),
    "ValueError": lambda: ValueError(SECRET),
    "KeyError": lambda: KeyError(SECRET),
    "AssertionError": lambda: AssertionError(SECRET),
    "RecursionError": lambda: RecursionError(SECRET),
    "MemoryError": lambda: MemoryError(SECRET),
    "NotImplementedError": lambda: NotImplementedError(SECRET),
    "UnicodeDecodeError": lambda: UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
    "TimeoutError": lambda: TimeoutError(SECRET),
    "ObjectDoesNotExist": lambda: django_errors.ObjectDoesNotExist(SECRET),
    "ImproperlyConfigured": lambda: django_errors.ImproperlyConfigured(SECRET),
    "Django's ValidationError": lambda: django_errors.ValidationError(SECRET),
    "IntegrityError": lambda: IntegrityError(SECRET),
    "DataError": lambda: DataError(SECRET),
    "ProgrammingError": lambda: ProgrammingError(SECRET),
    "broken SQL": break_the_sql,
    "broken rule of the database": break_a_rule_of_the_database,
    "missing file": get_missing_object,
    "ZeroDivisionError": lambda: ZeroDivisionError(SECRET),
    "TypeError": lambda: TypeError(SECRET),
}

RAISED = {**{name: case[0] for name, case in EXPECTED.items()}, **BUGS}


class Raising(APIView):
    authentication_classes: ClassVar[list[type]] = [BearerAuthentication]
    permission_classes: ClassVar[list[type]] = []

    def get(self, request: Request, name: str) -> Response:
        raise RAISED[name]()


class Inner(serializers.Serializer[Any]):
    number = Integer(min_value=1)
    text = Text(max_length=3)


class Outer(serializers.Serializer[Any]):
    name = Text(max_length=3)
    tags = serializers.ListField(child=Text(max_length=3), max_length=2)
    inner = Inner()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["name"] == "no":
            raise serializers.ValidationError("These do not go together.", code="clash")
        return attrs


class Validating(APIView):
    authentication_classes: ClassVar[list[type]] = []
    permission_classes: ClassVar[list[type]] = []

    def post(self, request: Request) -> Response:
        body = Outer(data=request.data)
        body.is_valid(raise_exception=True)
        return ok(body.validated_data)


class RaisingFields(Validating):
    def post(self, request: Request) -> Response:
        raise errors.InvalidFields(
            [FieldError("a", "taken", "Is taken."), FieldError("b.c", "long", "Is long.")]
        )


class RaisingText(Validating):
    def post(self, request: Request) -> Response:
        raise serializers.ValidationError("Nothing fits.", code="odd")


def raising_page(request: HttpRequest) -> HttpResponse:
    raise ValueError(SECRET)


urlpatterns = [
    path("api/raise/<str:name>", Raising.as_view()),
    path("api/validate", Validating.as_view()),
    path("api/fields", RaisingFields.as_view()),
    path("api/text", RaisingText.as_view()),
    path("apiary", raising_page),
]
__all__ = ["handler400", "handler404", "handler500"]  # as Django finds them here
