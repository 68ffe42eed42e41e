"""The page of an invitation to a workspace. The mail of the invitation links to it."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.second_factor import lacks_second_factor
from accounts.workspaces.invitations import (
    AlreadyMember,
    InvitationForAnother,
    TooManyMembers,
    accept,
    find_invitation,
)
from accounts.workspaces.services import TooManyMemberships, TooManyWorkspaces
from common.errors import NotFound

_REFUSALS = (AlreadyMember, InvitationForAnother, TooManyMembers, TooManyMemberships, TooManyWorkspaces)


@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Visitors without a session log in or sign up first, and then return. A GET changes nothing."""
    pending = find_invitation(token)
    if pending is None:
        return _gone(request)
    user = request.user
    if request.method != "POST" or not isinstance(user, User):
        return render(request, "sign_in/invitation.html", {"invitation": pending})
    if lacks_second_factor(user):
        return redirect("mfa_index")
    try:
        member = accept(account=user, token=token)
    except NotFound:
        return _gone(request)
    except _REFUSALS as error:
        context = {"invitation": pending, "problem": error.message}
        return render(request, "sign_in/invitation.html", context, status=error.status)
    return redirect(f"{settings.LOGIN_REDIRECT_URL}?workspace={member.workspace.public_id}")


def _gone(request: HttpRequest) -> HttpResponse:
    return render(request, "sign_in/no_invitation.html", status=404)
