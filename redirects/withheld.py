"""The response to a visit that does not count as a click, for a link with a click limit."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse

from pages.responses import page, prefers_json
from redirects import refusals
from redirects.outcomes import set_outcome


def withhold(request: HttpRequest) -> HttpResponse:
    """Return a page without the destination, for HEAD requests, prefetches and crawlers.

    A browser may show the prefetched page after a later click, so the page links to the same URL.
    """
    if prefers_json(request):
        response: HttpResponse = JsonResponse({"success": True, "message": refusals.CAPPED.message})
        response["Cache-Control"] = "no-store"
        response["X-Content-Type-Options"] = "nosniff"
    else:
        context = {"refusal": refusals.CAPPED, "path": request.get_full_path()}
        response = page(request, "redirects/withheld.html", context)
    response["X-Robots-Tag"] = "noindex"
    return set_outcome(response, "withheld")
