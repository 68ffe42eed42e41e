from django.urls import path, register_converter

from redirects.preview import preview
from redirects.views import follow


class CodeConverter:
    """Only what can be a code reaches the database; the router answers 404 for everything else."""

    regex = "[A-Za-z0-9]{3,50}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(CodeConverter, "code")

urlpatterns = [path("<code:code>", follow, name="follow"), path("<code:code>+", preview, name="preview")]
