from django.urls import path, register_converter

from links.codes import FILES, PATTERN, ROUTES, is_inherited_code
from redirects.views import follow, preview


class CodeConverter:
    """Matches syntactically valid codes. The router replies 404 to all others; only the page of a host other than the
    service's own takes a database query.
    """

    regex = PATTERN

    def to_python(self, value: str) -> str:
        if not is_inherited_code(value) or value.lower() in FILES:
            raise ValueError
        return value

    def to_url(self, value: str) -> str:
        return value


class CodeBeforeSlashConverter(CodeConverter):
    """Excludes the service's own paths: `/healthz/` must not become a link because `/healthz` is a route."""

    def to_python(self, value: str) -> str:
        if value in ROUTES:
            raise ValueError
        return super().to_python(value)


register_converter(CodeConverter, "code")
register_converter(CodeBeforeSlashConverter, "code_before_slash")

urlpatterns = [
    path("<code:code>", follow, name="follow"),
    # Chat programs and people append a slash. A redirect to the path without it would cost another round trip.
    path("<code_before_slash:code>/", follow),
    path("<code:code>+", preview, name="preview"),
]
