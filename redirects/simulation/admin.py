"""Adds the simulation of a visit to the admin's page of a link.

The project's routes import this module: Django's autodiscovery would import it in every command, and with it the
metrics, whose folder `serve` has not prepared yet.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from rest_framework.exceptions import ValidationError

from links.admin import LinkAdmin
from links.fields import Device
from links.models import Link
from redirects.simulation.serializers import METHODS, SimulationSerializer
from redirects.simulation.services import simulate

_VISIT = SimulationSerializer()


def _help(name: str) -> str:
    return str(_VISIT.fields[name].help_text).replace("`", "")


def _text(name: str, label: str) -> forms.CharField:
    return forms.CharField(required=False, strip=False, empty_value=None, label=label, help_text=_help(name))


def _choice(name: str, label: str, values: list[str]) -> forms.ChoiceField:
    choices = [("", "default"), *((value, value) for value in values)]
    return forms.ChoiceField(required=False, choices=choices, label=label, help_text=_help(name))


class SimulationForm(forms.Form):
    """The visit in a form, which the API's serializer validates.

    Empty fields have the defaults of the API. ``cleaned_data`` are the arguments of `services.simulate`.
    """

    country = _text("country", "Country")
    address = _text("address", "Address")
    device = _choice("device", "Device", Device.values)
    userAgent = _text("userAgent", "User-Agent")  # noqa: N815 # the API's name
    language = _text("language", "Accept-Language")
    referrer = _text("referrer", "Referer")
    query = _text("query", "Query")
    time = _text("time", "Time")
    method = _choice("method", "Method", [*METHODS])
    unlocked = forms.BooleanField(required=False, label="Unlocked", help_text=_help("unlocked"))

    def clean(self) -> dict[str, Any]:
        entered = {name: value for name, value in (super().clean() or {}).items() if value not in ("", None)}
        try:
            visit: dict[str, Any] = _VISIT.run_validation(entered)
        except ValidationError as error:
            for name, messages in dict(error.detail).items():  # type: ignore[arg-type] # a mapping by field
                self.add_error(name, [str(message) for message in messages])
            return {}
        return visit


@admin.register(Link)
class SimulatingLinkAdmin(LinkAdmin):
    change_form_template = "redirects/link_admin.html"

    def render_change_form(  # noqa: PLR0917 # Django calls it with these names
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Link | None = None,
    ) -> HttpResponse:
        """Django calls this after it has checked the permission to view the link."""
        form = SimulationForm(request.GET if "simulate" in request.GET else None)
        if obj is not None and form.is_valid():
            context["simulation"] = simulate(obj, **form.cleaned_data)
        context["visit"] = form
        return super().render_change_form(request, context, add, change, form_url, obj)
