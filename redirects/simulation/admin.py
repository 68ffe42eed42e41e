"""Adds the simulation of a visit to the admin's page of a link.

The project's routes import this module: Django's autodiscovery would import it in every command, and with it the
metrics, whose folder `serve` has not prepared yet.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from links.admin import LinkAdmin
from links.models import Link
from redirects.simulation.forms import SimulationForm
from redirects.simulation.services import simulate


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
