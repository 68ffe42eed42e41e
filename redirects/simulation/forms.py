"""The same visit in a form of the admin. The API's serializer validates it."""

from __future__ import annotations

from typing import Any

from django import forms
from rest_framework.exceptions import ValidationError

from links.models import Device
from redirects.simulation.serializers import METHODS, SimulationSerializer

_VISIT = SimulationSerializer()


def _help(name: str) -> str:
    return str(_VISIT.fields[name].help_text).replace("`", "")


def _text(name: str, label: str) -> forms.CharField:
    return forms.CharField(required=False, strip=False, empty_value=None, label=label, help_text=_help(name))


def _choice(name: str, label: str, values: list[str]) -> forms.ChoiceField:
    choices = [("", "default"), *((value, value) for value in values)]
    return forms.ChoiceField(required=False, choices=choices, label=label, help_text=_help(name))


class SimulationForm(forms.Form):
    """Empty fields have the defaults of the API. ``cleaned_data`` are the arguments of `services.simulate`."""

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
