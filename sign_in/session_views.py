"""The sessions of an account: browsers that signed in, and logins to the API."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.sessions.lifecycle import end_other_sessions, end_session, live_sessions


@require_safe
@login_required
def sessions(request: HttpRequest) -> HttpResponse:
    """The list has no addresses, because the service stores none."""
    listed = live_sessions(request.user)  # type: ignore[arg-type] # logged in
    return render(request, "sign_in/sessions.html", {"sessions": listed, "current": _stored_key(request)})


@require_POST
@login_required
def end(request: HttpRequest, session: UUID) -> HttpResponse:
    """For an unknown session, or one of another account, do nothing and send the same response."""
    end_session(request.user, session)  # type: ignore[arg-type] # logged in
    return redirect("account_sessions")


@require_POST
@login_required
def end_others(request: HttpRequest) -> HttpResponse:
    end_other_sessions(request.user, _stored_key(request))  # type: ignore[arg-type] # logged in
    return redirect("account_sessions")


def _stored_key(request: HttpRequest) -> str | None:
    session: Any = request.session
    key: str | None = session.stored_key
    return key
