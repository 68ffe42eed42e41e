"""A conventional redirect view: one `get`, one INSERT and one UPDATE by the ORM, on separate tables.

The middlewares are those of `bench.baseline.settings`. The view checks nothing, so only the redirect is measured.
"""

from __future__ import annotations

from django.db import connection, models, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import path


class PlainLink(models.Model):
    code = models.CharField(max_length=50, unique=True)
    url = models.TextField()
    clicks = models.BigIntegerField(default=0)

    class Meta:
        app_label = "bench"

    def __str__(self) -> str:
        return self.code


class PlainClick(models.Model):
    link = models.ForeignKey(PlainLink, on_delete=models.CASCADE)
    time = models.DateTimeField(db_default=Now())
    address = models.GenericIPAddressField()
    user_agent = models.TextField()
    referrer = models.TextField()

    class Meta:
        app_label = "bench"

    def __str__(self) -> str:
        return str(self.time)


def follow(request: HttpRequest, code: str) -> HttpResponse:
    link = get_object_or_404(PlainLink, code=code)
    with transaction.atomic():
        PlainClick.objects.create(
            link=link,
            address=request.META["REMOTE_ADDR"],
            user_agent=request.headers.get("User-Agent", ""),
            referrer=request.headers.get("Referer", ""),
        )
        PlainLink.objects.filter(pk=link.pk).update(clicks=F("clicks") + 1)
    return HttpResponseRedirect(link.url)


def make_tables(links: dict[str, str]) -> None:
    """Create and fill the tables. ``links`` maps codes to URLs."""
    with connection.schema_editor() as editor:
        editor.create_model(PlainLink)
        editor.create_model(PlainClick)
    PlainLink.objects.bulk_create(
        (PlainLink(code=code, url=url) for code, url in links.items()), batch_size=10_000
    )


urlpatterns = [path("<str:code>", follow)]
