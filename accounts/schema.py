"""The OpenAPI description of accounts and their credentials, of workspaces, and of the history."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema_serializer

from accounts import admission
from accounts.code_styles import CodeAlphabet
from accounts.history import BAD_CURSOR
from accounts.invitations import (
    MAX_MEMBERS,
    MAX_PENDING,
    AlreadyMember,
    InvitationForAnother,
    InvitationNotFound,
    TooManyInvitations,
    TooManyMembers,
)
from accounts.models import INVITATION_DAYS
from accounts.rights import Plan, Role
from accounts.second_factor import (
    FAILURES_ALLOWED,
    FAILURES_IN_A_ROW,
    OtpRequired,
    SecondFactorLocked,
    SecondFactorRequired,
    UnreadableSecondFactor,
    WrongOtp,
)
from accounts.serializers import (
    NO_ID,
    ChangePasswordSerializer,
    CreateWorkspaceSerializer,
    InviteSerializer,
    NetworkField,
    ProfileSerializer,
    RefreshSerializer,
    UpdateMemberSerializer,
    UpdateWorkspaceSerializer,
)
from accounts.services import BadCredentials, BadToken, BrowserSession, PasswordLoginOff, WrongPassword
from accounts.sessions.lifecycle import CONFIRMED_FOR, GRACE, MAX_SESSIONS, ConfirmationRequired
from accounts.workspaces import (
    MAX_MEMBERSHIPS,
    LastOwner,
    PersonalWorkspace,
    TooManyWorkspaces,
    WorkspaceNotEmpty,
)
from common.errors import InvalidFields, RoleRequired, TooManyAttempts
from common.http.current_request import AuthMethod
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.openapi.responses import text
from common.rest.fields import DIRECTION_REFUSED, one_of

name_choices("Plan", Plan.values)
name_choices("CodeAlphabet", CodeAlphabet.values)
extend_schema_serializer(component_name="RefreshToken")(RefreshSerializer)

_TOKEN = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ0b2tlbl90eXBlIjoiYWNjZXNzIn0.c2lnbmF0dXJl"  # noqa: S105 # an example
_KEY = "sl_live_0123456789ABCDEFGHIJKLMNOPQRSTUV0abcde"


class ApiKeyScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.api_requests.authentication.ApiKeyAuthentication"
    name = "ApiKeyAuth"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "X-API-Key",
            "description": "For servers. Read or replace it under /api/auth with a token. `Authorization: Bearer`"
            " takes a key, too, unless the operation takes tokens only.",
        }


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.api_requests.authentication.BearerAuthentication"
    name = "bearerAuth"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "For browser front ends: the `token` of a login. Or a token of an issuer that the workspace"
            " accepts (`POST /api/token-issuers`), which acts like a key.",
        }


ACCESS_TOKEN = text("token", None, _TOKEN, "Send it as `Authorization: Bearer <token>`.")
REFRESH_TOKEN = text("refreshToken", None, _TOKEN, "For POST /api/auth/refresh. It works once.")

describe_tokens = describe(
    "Authentication",
    login=Operation(
        "login",
        "Log in with e-mail and password.",
        "An access token and a refresh token.",
        description="For browser front ends; servers use the API key. An access token expires soon; the refresh token"
        f" gets another one without the password. An account has at most {MAX_SESSIONS} sessions: one more login ends"
        " the oldest. An account with a second factor gets `otp_required` without `otp`: repeat the call with it. A"
        f" code works once. After {FAILURES_ALLOWED.attempts} wrong codes within {FAILURES_ALLOWED.seconds // 60}"
        f" minutes, every code is refused with 429, and after {FAILURES_IN_A_ROW} in a row all but recovery codes with"
        " `otp_locked`.",
        examples=[{"email": "ada@example.com", "password": "correct horse"}],
        placeholders={"email": "your own e-mail address", "password": "your own password"},
        errors=[
            invalid("email"),
            BadCredentials(),
            OtpRequired(),
            WrongOtp(),
            UnreadableSecondFactor(),
            SecondFactorLocked(),
            SecondFactorRequired(),
            PasswordLoginOff(),
            TooManyAttempts(600, limit=10, window=900),
            admission.TOO_MANY_CALLS,
        ],
    ),
    refresh=Operation(
        "refreshToken",
        "Get new tokens without logging in again.",
        "A new access token and a new refresh token.",
        description="A refresh token works once; from then on, use the one in the response. Within"
        f" {GRACE.seconds} seconds, the same refresh token gets the same response again. After that, a second use"
        " ends the session, because the token may have been stolen. A session lasts as long as the refresh token of"
        " its login, and its tokens become invalid when the account's password changes.",
        component="Refresh",
        examples=[{"refreshToken": _TOKEN}],
        placeholders={"refreshToken": "the `refreshToken` of a login"},
        errors=[invalid("refreshToken"), BadToken()],
    ),
)

CONFIRMATION = (
    f" A token of the dashboard is refused with `confirmation_required` unless its user logged in, or confirmed it at"
    f" `/accounts/confirm/`, within the last {CONFIRMED_FOR.seconds // 60} minutes."
)
API_KEY = text("apiKey", None, _KEY, "Null if the key cannot be read.", allow_null=True)
NEW_API_KEY = text("apiKey", None, _KEY)
describe_api_key = describe(
    "Authentication",
    api_key=Operation(
        "getApiKey",
        "Read the account's API key.",
        "The current API key.",
        description="An API key cannot read itself." + CONFIRMATION,
        component="ApiKey",
        errors=[ConfirmationRequired()],
    ),
    regenerate_api_key=Operation(
        "regenerateApiKey",
        "Replace the account's API key.",
        "The new API key; the former one is invalid.",
        description="All workers and hosts reject the former key before this response." + CONFIRMATION,
        errors=[ConfirmationRequired()],
    ),
)


extend_schema_serializer(component_name="UpdateAccount")(ProfileSerializer)
extend_schema_serializer(component_name="ChangePassword")(ChangePasswordSerializer)


describe_profile = describe(
    "Account",
    retrieve=Operation(
        "getAccount",
        "Read your own account.",
        "The account.",
        description="With its plan and limits.",
    ),
    export=Operation(
        "exportAccount",
        "Read everything that is stored about you.",
        "One document.",
        description="Links, domains and QR codes belong to workspaces, which have exports"
        " of their own. Changes are those that you made in the workspaces of which you are a member now."
        + CONFIRMATION,
        errors=[ConfirmationRequired(), admission.TOO_MANY_CALLS],
    ),
    partial_update=Operation(
        "updateAccount",
        "Change your own name, and the language of your mails.",
        "The account.",
        description="Omitted fields keep their value. You can send back the whole account:"
        " read-only fields are ignored, except that a different `email` is refused.",
        examples=[{"firstName": "Ada", "lastName": "Lovelace", "language": "en"}],
        errors=[
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
        description="Ends all other sessions of the account, also those of the admin. The"
        " former tokens of this session become invalid: use those in the response. API keys keep working. A wrong"
        " current password counts as a failed login. Tokens of the dashboard are refused: in a browser, change the"
        " password at `/accounts/password/change/`.",
        component="ChangedPassword",
        examples=[{"currentPassword": "correct horse", "newPassword": "another good password"}],
        placeholders={"currentPassword": "your current password"},
        errors=[
            invalid("newPassword", "weak", "This password is too common."),
            WrongPassword(),
            BrowserSession(),
            PasswordLoginOff(),
            TooManyAttempts(600, limit=10, window=900),
            admission.TOO_MANY_CALLS,
        ],
    ),
    logout=Operation(
        "logout",
        "Log out.",
        "All tokens of the session are invalid.",
        description="Ends the session to which the token belongs. All workers and hosts"
        " reject its tokens before this response.",
    ),
)

describe_sessions = describe(
    "Account",
    of="session",
    list=Operation(
        "listSessions",
        "List your own sessions.",
        "The sessions, newest first.",
        description="Each login is a session. No address is stored.",
    ),
    destroy=Operation(
        "endSession",
        "End one of your own sessions.",
        "All tokens of the session are invalid.",
        description="All workers and hosts reject the session's tokens before this response.",
    ),
)


name_choices("Role", Role.values)
name_choices("CodeAlphabet", CodeAlphabet.values)
for _name, _serializer in {
    "CreateWorkspace": CreateWorkspaceSerializer,
    "UpdateWorkspace": UpdateWorkspaceSerializer,
    "UpdateMember": UpdateMemberSerializer,
    "Invite": InviteSerializer,
}.items():
    extend_schema_serializer(component_name=_name)(_serializer)

_ROLES = (
    "A viewer reads; an editor also changes links and QR codes; an admin also changes domains and members;"
    " an owner also changes owners and deletes the workspace."
)
_BLANK = invalid("name", "blank", "This field may not be blank.")
_DIRECTION = invalid("name", "direction", DIRECTION_REFUSED)
_OWNER_REQUIRED = RoleRequired(Role.OWNER)
_TOO_MANY_WORKSPACES = TooManyWorkspaces(10)
describe_workspaces = describe(
    "Workspaces",
    of="workspace",
    list=Operation(
        "listWorkspaces",
        "List the workspaces of your account.",
        "The personal workspace, and then the others from the oldest.",
        description="A workspace owns links, domains, QR codes and quotas. Name it in header `X-Workspace` of other"
        f" calls to act in it. {_ROLES}",
    ),
    create=Operation(
        "createWorkspace",
        "Create a workspace for a team.",
        "The workspace. You are its owner.",
        description="It gets the plan of your account. It shares the account's limits on stored data, domains and QR"
        " codes, and on the free plan also those on requests and links per month."
        " An account can create a limited number of workspaces in a day.",
        examples=[{"name": "Marketing"}],
        errors=[_BLANK, _DIRECTION, _TOO_MANY_WORKSPACES],
    ),
    retrieve=Operation(
        "getWorkspace",
        "Read a workspace.",
        "The workspace.",
        description="Its plan, limits and stored bytes, and your role.",
    ),
    partial_update=Operation(
        "updateWorkspace",
        "Rename a workspace, or choose the networks whose visits do not count.",
        "The workspace.",
        description="You can send back the whole object: only `name`, `ignoredNetworks`, `healthCheck`,"
        " `codeLength` and `codeAlphabet` are not ignored."
        " Visits from `ignoredNetworks` follow the links as usual, and are recorded with the kind `ignored`: they are"
        " in `notCounted` and in the log, but in no number of clicks or visitors. Those that are counted already stay."
        " A link with `maxClicks` spends one of its clicks on such a visit all the same, and includes it in"
        " `clickCount`.",
        examples=[{"name": "Marketing", "ignoredNetworks": ["203.0.113.0/24", "2001:db8::/32"]}],
        errors=[
            _BLANK,
            _DIRECTION,
            invalid("ignoredNetworks.0", "network", str(NetworkField.default_error_messages["network"])),
        ],
    ),
    destroy=Operation(
        "deleteWorkspace",
        "Delete an empty workspace.",
        "The workspace is deleted.",
        description="Move or delete its links and domains first.",
        errors=[PersonalWorkspace(), WorkspaceNotEmpty()],
    ),
)

describe_members = describe(
    "Workspaces",
    of="member",
    list=Operation(
        "listMembers",
        "List the members of a workspace.",
        "The members, in the order in which they joined.",
        description=_ROLES,
    ),
    partial_update=Operation(
        "updateMember",
        "Change the role of a member.",
        "The member.",
        description=f"{_ROLES} Pending invitations of the member to a role that the member may no longer offer are"
        " withdrawn.",
        examples=[{"role": "editor"}],
        errors=[
            invalid("role", "invalid_choice", f'"x" is not a valid choice. {one_of(Role.values)}'),
            _OWNER_REQUIRED,
            _TOO_MANY_WORKSPACES,
            LastOwner(),
        ],
    ),
    destroy=Operation(
        "removeMember",
        "Remove a member, or leave.",
        "The account is no longer a member.",
        description="Admins remove others; every member can leave. The member's links stay.",
        errors=[RoleRequired(Role.ADMIN), _OWNER_REQUIRED, LastOwner()],
    ),
)

describe_invitations = describe(
    "Workspaces",
    of="invitation",
    list=Operation(
        "listInvitations",
        "List the pending invitations of a workspace.",
        "The invitations, newest first, without their tokens.",
        description="Invitations that are neither accepted nor expired.",
    ),
    create=Operation(
        "createInvitation",
        "Create an invitation to a workspace.",
        "The invitation with its token.",
        description=f"The token works once and for {INVITATION_DAYS} days. A workspace has at most {MAX_PENDING}"
        f" pending invitations and {MAX_MEMBERS} members, and an account is a member of at most {MAX_MEMBERSHIPS}"
        " workspaces.",
        examples=[{"role": "editor", "email": "grace@example.com"}],
        errors=[
            invalid("role", "invalid_choice", f'"x" is not a valid choice. {one_of(Role.values)}'),
            invalid("email"),
            _OWNER_REQUIRED,
            TooManyInvitations(),
            PersonalWorkspace(),
        ],
    ),
    destroy=Operation(
        "deleteInvitation",
        "Withdraw an invitation.",
        "Its token no longer works.",
        description="The token of a withdrawn invitation is refused like an unknown one.",
    ),
)

describe_acceptance = describe(
    "Workspaces",
    create=Operation(
        "acceptInvitation",
        "Join a workspace.",
        "The workspace.",
        description="The invitation works once, and not while the account of its inviter is disabled.",
        errors=[
            InvitationNotFound(),
            InvitationForAnother(),
            TooManyMembers(),
            _TOO_MANY_WORKSPACES,
            AlreadyMember(),
        ],
    ),
)


name_choices("Via", [method.value for method in AuthMethod])

describe_audit = describe(
    "History",
    list=Operation(
        "listChanges",
        "List the changes of all objects of the workspace, newest first.",
        "One page; more pages follow as long as `nextCursor` is not null.",
        description="Changes of links, domains, keys, members, invitations, the workspace, sessions and the account:"
        " who changed what, and when. The creation of a link is not recorded. Filters combine. In `before`"
        " and `after`, passwords appear as `set` or `removed`, and addresses not at all. Changes older than the"
        " retention period are deleted.",
        errors=[
            InvalidFields([BAD_CURSOR]),
            *(invalid(field, "id", NO_ID) for field in ("actor", "object")),
        ],
    ),
)
