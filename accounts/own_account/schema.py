"""The OpenAPI description of the endpoints for one's own account and its sessions."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_serializer

from accounts import admission
from accounts.own_account.serializers import ChangePasswordSerializer, ProfileSerializer
from accounts.own_account.services import BrowserSession, WrongPassword
from accounts.representations import own_account, session_object
from accounts.schema import ACCESS_TOKEN, REFRESH_TOKEN
from accounts.services import PasswordLoginOff
from common.errors import TooManyAttempts
from common.openapi.operations import Operation, describe
from common.openapi.refusals import invalid

extend_schema_serializer(component_name="UpdateAccount")(ProfileSerializer)
extend_schema_serializer(component_name="ChangePassword")(ChangePasswordSerializer)

_OWN_ACCOUNT = own_account.nested("user")

describe_profile = describe(
    "Account",
    retrieve=Operation(
        "getAccount",
        "Read your own account.",
        "The account.",
        description="Takes an access token only.",
        data=[_OWN_ACCOUNT],
    ),
    partial_update=Operation(
        "updateAccount",
        "Change your own name.",
        "The account.",
        description="Takes an access token only. Omitted fields keep their value. You can send back the whole account:"
        " read-only fields are ignored, except that a different `email` is refused.",
        message="Account updated successfully.",
        data=[_OWN_ACCOUNT],
        examples=[{"firstName": "Ada", "lastName": "Lovelace"}],
        refusals=[
            invalid("firstName", "max_length", "Ensure this field has no more than 100 characters."),
            invalid("email", "immutable", "Cannot be changed."),
        ],
    ),
)

describe_account = describe(
    "Account",
    change_password=Operation(
        "changePassword",
        "Change your own password.",
        "New tokens of this session.",
        description="Takes an access token only. Ends all other sessions of the account, also those of the admin. The"
        " former tokens of this session become invalid: use those in the response. API keys keep working. A wrong"
        " current password counts as a failed login. Tokens of the dashboard are refused: in a browser, change the"
        " password at `/accounts/password/change/`.",
        message="Password changed successfully.",
        component="ChangedPassword",
        beside=[ACCESS_TOKEN, REFRESH_TOKEN],
        examples=[{"currentPassword": "correct horse", "newPassword": "another good password"}],
        placeholders={"currentPassword": "your current password"},
        refusals=[
            invalid("newPassword", "weak", "This password is too common."),
            WrongPassword(),
            BrowserSession(),
            PasswordLoginOff(),
            TooManyAttempts(600, limit=10, window=900),
            admission.REFUSAL,
        ],
    ),
    logout=Operation(
        "logout",
        "Log out.",
        "All tokens of the session are invalid.",
        description="Takes an access token only. Ends the session to which the token belongs. All workers and hosts"
        " reject its tokens before this response.",
        message="Logged out successfully.",
    ),
)

describe_sessions = describe(
    "Account",
    of="session",
    list=Operation(
        "listSessions",
        "List your own sessions.",
        "The sessions, newest first.",
        description="Takes an access token only. Each login is a session. No address is stored.",
        data=[session_object.listed("sessions")],
    ),
    destroy=Operation(
        "endSession",
        "End one of your own sessions.",
        "All tokens of the session are invalid.",
        description="Takes an access token only. All workers and hosts reject the session's tokens before this"
        " response.",
        message="Session ended successfully.",
    ),
)
