"""Every code of an error response of the API: what it means, and what the client can do.

The pages under DOCS_PATH show them. A code never changes its meaning. Each code that the service gives has an entry.
"""

from __future__ import annotations

from typing import NamedTuple

from django.conf import settings

DOCS_PATH = "/api/docs/errors"


class ErrorCode(NamedTuple):
    """``title`` is the same for each occurrence (RFC 9457 3.1.3). ``statuses`` are the HTTP statuses of the code."""

    statuses: tuple[int, ...]
    title: str
    cause: str
    remedy: str


def docs_address(code: str) -> str:
    """The page about the code."""
    return f"{settings.BASE_URL}{DOCS_PATH}/{code}"


# By code, in the order of the index: the request, the credential, rights and limits, objects, the service.
CATALOGUE = {
    "bad_request": ErrorCode(
        (400, 431),
        "Malformed request",
        "The request line, a header or the query is not valid HTTP, or all headers together are too long.",
        "Send the request with an ordinary HTTP client, and with fewer or shorter headers.",
    ),
    "invalid_json": ErrorCode(
        (400,),
        "Invalid JSON",
        "The body is not a JSON object in UTF-8, ended early, is nested too deeply, has a key twice, or contains NUL "
        "or a lone surrogate.",
        "Send one JSON object that a JSON library wrote. `message` says what is wrong.",
    ),
    "validation_error": ErrorCode(
        (400,),
        "Invalid fields",
        "Values of the body or of the query break rules. `errors` lists them with path, code and message.",
        "Correct each field that `errors` names, and send the request again. Nothing has been changed.",
    ),
    "unknown_field": ErrorCode(
        (400,),
        "Unknown field",
        "A field or parameter looks like one that the call knows, the request has `Prefer: handling=strict`, or the "
        "call refuses every unknown one, as reports do.",
        "Correct the name, as `didYouMean` in `errors` suggests, or leave the field out.",
    ),
    "bad_if_match": ErrorCode(
        (400,),
        "Invalid If-Match",
        "The header `If-Match` does not contain an ETag with its quotes.",
        "Send the `ETag` of a response as it is, or `*`.",
    ),
    "dns_not_configured": ErrorCode(
        (400,),
        "DNS not configured",
        "The DNS of the domain does not have the records that the verification needs. `data.checks` compares them.",
        "Set the records at the provider of the domain. Verify again when their former time to live has passed.",
    ),
    "length_required": ErrorCode(
        (411,),
        "Content-Length required",
        "The body is sent in chunks, so its length is not known.",
        "Send the whole body with `Content-Length`.",
    ),
    "body_too_large": ErrorCode(
        (413,),
        "Body too large",
        "The body is larger than the call accepts. `message` names the limit.",
        "Send less at once, such as a bulk call in several parts.",
    ),
    "unsupported_media_type": ErrorCode(
        (415,),
        "Unsupported media type",
        "The body is not declared as JSON in plain UTF-8.",
        "Send `Content-Type: application/json`, without a compression of the body.",
    ),
    "method_not_allowed": ErrorCode(
        (405,),
        "Method not allowed",
        "The path exists, but not with this method.",
        "Use a method that the header `Allow` of the response lists.",
    ),
    "idempotency_in_progress": ErrorCode(
        (409,),
        "Request in progress",
        "Another request with the same `Idempotency-Key` has not finished yet.",
        "Wait a moment, and repeat the request with the same key. It then returns the response of the first.",
    ),
    "idempotency_mismatch": ErrorCode(
        (422,),
        "Idempotency-Key used before",
        "The `Idempotency-Key` belongs to a request with another path, body, workspace or credential.",
        "Send a new key with each new request, and the old one only with an exact repetition.",
    ),
    "idempotency_full": ErrorCode(
        (429,),
        "No room for stored responses",
        "The responses stored for the account's `Idempotency-Key` headers of 24 hours have reached their size limit.",
        "Send the request without the header, or after the time in `Retry-After`.",
    ),
    "not_authenticated": ErrorCode(
        (401,),
        "Not authenticated",
        "The request has no credential, or one that is wrong, expired or revoked. At the login: e-mail or password is "
        "wrong.",
        "Send a valid key as `X-API-Key` or a token as `Authorization: Bearer`. Refresh an expired token.",
    ),
    "key_expired": ErrorCode(
        (401,),
        "Key expired",
        "The `expiresAt` of the key has passed.",
        "Set a later `expiresAt` with a token, or create another key.",
    ),
    "token_refused": ErrorCode(
        (401,),
        "Token of an issuer refused",
        "`X-Workspace` is missing, no key of this workspace accepts the issuer, audience and subject, the signature "
        "or the times are wrong, or the issuer cannot be reached.",
        "Name the workspace in `X-Workspace`, and compare the claims of a fresh token with `GET /api/token-issuers`. "
        "If the issuer was down, try again after a minute.",
    ),
    "otp_required": ErrorCode(
        (401,),
        "Second factor required",
        "The password is right, and the account has a second factor.",
        "Repeat the login with `otp`: a code of the authenticator app, or a recovery code.",
    ),
    "otp_wrong": ErrorCode(
        (401,),
        "Wrong code",
        "The `otp` is wrong, or was used before.",
        "Wait for the next code of the app, and check the clock of its device.",
    ),
    "otp_locked": ErrorCode(
        (401,),
        "Codes locked",
        "Too many wrong codes were entered, so codes of the app are refused.",
        "Use a recovery code, or choose a new password.",
    ),
    "second_factor_unreadable": ErrorCode(
        (401,),
        "Second factor unreadable",
        "The code is wrong, or the service can no longer decrypt the secret of the authenticator app.",
        "Try a recovery code. If that fails, ask the operator to remove your second factors.",
    ),
    "second_factor_required": ErrorCode(
        (403,),
        "Second factor missing",
        "The service requires a second factor, and the account has none.",
        "Sign in under `/accounts/`, set up an authenticator app or a passkey, and repeat the login.",
    ),
    "password_login_off": ErrorCode(
        (403,),
        "No login with passwords",
        "The service accepts single sign-on only.",
        "Sign in to the dashboard, and create a key with scopes for programs.",
    ),
    "browser_session": ErrorCode(
        (403,),
        "Token of a browser",
        "The token belongs to the dashboard, and a browser changes the password on a page.",
        "Open `/accounts/password/change/` in the browser.",
    ),
    "confirmation_required": ErrorCode(
        (403,),
        "Confirmation required",
        "With the token of the dashboard, the call works only within 10 minutes of signing in or confirming.",
        "Open `/accounts/confirm/` in the same browser, and repeat the request.",
    ),
    "permission_denied": ErrorCode(
        (403,),
        "Permission denied",
        "The caller may not do this, whatever its role and scopes.",
        "Use another account, or ask the operator.",
    ),
    "role_required": ErrorCode(
        (403,),
        "Role too low",
        "The caller's role in the workspace is too low. `data.role` names the one that is needed.",
        "Ask an admin or owner of the workspace for this role, or name another workspace in `X-Workspace`.",
    ),
    "scope_required": ErrorCode(
        (403,),
        "Scope missing",
        "The key does not have the scope that `data.scope` names.",
        "Add the scope to the key with `PATCH /api/keys/{id}`, or use another key.",
    ),
    "key_limited": ErrorCode(
        (403,),
        "Key limited",
        "The call concerns more than a key with `domainId` or `onlyOwn` may reach, or refuses every key with scopes.",
        "Use a key without this limit, the key of the account, or a token. `message` says which.",
    ),
    "key_of_another": ErrorCode(
        (403,),
        "Key of another member",
        "Only the member who created a key can change or rotate it.",
        "Ask this member, or delete the key and create another one.",
    ),
    "key_of_issuer": ErrorCode(
        (409,),
        "Key without a text",
        "Tokens of an issuer act as this key, so it has no text that could be replaced.",
        "Change its issuer, audience or subject with `PATCH /api/token-issuers/{id}`, or delete it.",
    ),
    "invitation_for_another": ErrorCode(
        (403,),
        "Invitation for somebody else",
        "The invitation names an e-mail address, and the account has another one.",
        "Sign in with the invited address, or ask for an invitation to yours.",
    ),
    "plan_required": ErrorCode(
        (403,),
        "Plan without this feature",
        "The plan of the workspace does not include custom domains.",
        "Ask the operator for the plan Pro or Enterprise.",
    ),
    "quota_exceeded": ErrorCode(
        (403, 429),
        "Limit reached",
        "A limit of the plan or of the service is reached: with 403 a number or size of stored objects, with 429 the "
        "links of a month.",
        "Delete what is no longer needed, or ask the operator for a larger plan. With 429, wait for `Retry-After`.",
    ),
    "rate_limited": ErrorCode(
        (429,),
        "Too many requests",
        "More requests or attempts were sent than the limit in `RateLimit-Policy` allows.",
        "Wait as many seconds as `Retry-After` says, and send requests more slowly.",
    ),
    "too_many_at_once": ErrorCode(
        (429,),
        "Too many calls at once",
        "Too many costly calls of the workspace are running at the same time.",
        "Repeat the request when one of them has finished. Send such calls one after the other.",
    ),
    "workspace_banned": ErrorCode(
        (403,),
        "Workspace blocked",
        "An operator has blocked the links of the workspace, so they cannot leave it.",
        "Ask the operator.",
    ),
    "not_found": ErrorCode(
        (404,),
        "Not found",
        "There is no such path or object, or the caller's workspace or key does not reach it. The response does not "
        "tell which.",
        "Check the id, the header `X-Workspace` and the limits of the key.",
    ),
    "conflict": ErrorCode(
        (409,),
        "Conflict",
        "The value is in use, or the object is needed as it is.",
        "Choose another value. `message` says which.",
    ),
    "code_taken": ErrorCode(
        (409,),
        "Code taken",
        "Another link of the domain has the code, or a deleted one keeps it for a while.",
        "Choose another code, or leave it out. `GET /api/urls/exists` suggests free ones.",
    ),
    "code_reserved": ErrorCode(
        (409,),
        "Code reserved",
        "The service uses the code for a path of its own.",
        "Choose another code.",
    ),
    "external_id_taken": ErrorCode(
        (409,),
        "External id taken",
        "Another link of the workspace has the `externalId`.",
        "Change that link (`GET /api/urls/ext_{externalId}`), or use `PUT /api/urls/upsert`.",
    ),
    "already_exists": ErrorCode(
        (412,),
        "Link exists",
        "The request has `If-None-Match: *`, and a link has the `externalId` already.",
        "Leave the header out to change the link.",
    ),
    "changed_meanwhile": ErrorCode(
        (412,),
        "Changed meanwhile",
        "The object does not have the version in `If-Match`: somebody has changed it. `data` says who and when.",
        "Read the object, apply your change to it, and send it with the new `ETag`.",
    ),
    "domain_not_active": ErrorCode(
        (409,),
        "Domain not active",
        "Links can be created only on a domain that has been verified.",
        "Verify the domain with `POST /api/domains/{id}/verify`, or use `base`.",
    ),
    "domain_exists": ErrorCode(
        (409,),
        "Domain exists",
        "The workspace has added the domain already.",
        "Use that domain, or delete it first.",
    ),
    "domain_taken": ErrorCode(
        (409,),
        "Domain taken",
        "Another account has verified the domain.",
        "Ask its owner to delete it or to move it to your workspace.",
    ),
    "on_custom_domain": ErrorCode(
        (409,),
        "Link on a custom domain",
        "The link is on a domain of its workspace, and stays with it.",
        "Move the whole domain with `POST /api/domains/{id}/move`.",
    ),
    "not_restorable": ErrorCode(
        (409,),
        "Nothing to restore",
        "The change has no former value, as a creation or a deletion has none.",
        "Choose a change with the action `link.updated`.",
    ),
    "tag_exists": ErrorCode(
        (409,),
        "Tag exists",
        "The workspace has a tag with the new name.",
        "Send `merge: true` to merge the two, or choose another name.",
    ),
    "tags_busy": ErrorCode(
        (409,),
        "Tags busy",
        "Another change of a tag is running in the workspace.",
        "Repeat the request when `GET /api/tag-changes` shows it as finished.",
    ),
    "not_undoable": ErrorCode(
        (409,),
        "Not undoable",
        "The change is not finished, was undone before, or is older than 7 days.",
        "Wait for its end, or change the tags by hand.",
    ),
    "view_exists": ErrorCode(
        (409,),
        "View exists",
        "The workspace has a view with this name.",
        "Choose another name, or change that view.",
    ),
    "utm_template_exists": ErrorCode(
        (409,),
        "UTM template exists",
        "The workspace has a UTM template with this name.",
        "Choose another name, or change that template.",
    ),
    "name_taken": ErrorCode(
        (409,),
        "Name taken",
        "The workspace has a QR design with this name.",
        "Choose another name, or change that design.",
    ),
    "not_readable": ErrorCode(
        (409,),
        "QR code not readable",
        "A reader could not decode the image.",
        "Choose a darker colour, a wider margin, a smaller logo or a larger size.",
    ),
    "personal_workspace": ErrorCode(
        (409,),
        "Personal workspace",
        "A personal workspace belongs to one account, and can neither be shared nor deleted.",
        "Create a workspace for the team, and move the links there.",
    ),
    "workspace_not_empty": ErrorCode(
        (409,),
        "Workspace not empty",
        "The workspace has links, domains or QR codes.",
        "Move or delete them first.",
    ),
    "already_member": ErrorCode(
        (409,),
        "Already a member",
        "The account is a member of the workspace. The invitation remains valid for somebody else.",
        "Nothing is needed. An admin can change the role.",
    ),
    "last_owner": ErrorCode(
        (409,),
        "Last owner",
        "A workspace must keep an owner.",
        "Make another member the owner first.",
    ),
    "no_mail": ErrorCode(
        (409,),
        "No mail",
        "The service sends no mails: its operator has not set `EMAIL_URL`.",
        "Use a webhook with a URL, or ask the operator.",
    ),
    "outbound_off": ErrorCode(
        (409,),
        "No outbound requests",
        "The service sends no requests to other hosts: its operator has set `OUTBOUND=off`.",
        "Ask the operator. `GET /api/events` delivers events without such requests.",
    ),
    "webhook_disabled": ErrorCode(
        (409,),
        "Webhook disabled",
        "The webhook is switched off, by a member or after a long time of failures.",
        "Repair the receiver, and enable the webhook with `PATCH /api/webhooks/{id}`.",
    ),
    "replay_running": ErrorCode(
        (409,),
        "Replay running",
        "Events are being replayed to the webhook already.",
        "Repeat the request when that is done.",
    ),
    "not_signed": ErrorCode(
        (409,),
        "Webhook without a secret",
        "Only webhooks of the format `standard` are signed.",
        "Create a webhook of this format if its receiver shall check signatures.",
    ),
    "share_ended": ErrorCode(
        (410,),
        "Share ended",
        "The shared report was revoked or has expired, or its view or link is gone.",
        "Ask the person who shared the report for a new address.",
    ),
    "busy": ErrorCode(
        (503,),
        "Service busy",
        "The service is creating as many files or images as it can.",
        "Repeat the request after the time in `Retry-After`.",
    ),
    "report_too_slow": ErrorCode(
        (503,),
        "Report too slow",
        "Adding up what the request selects takes longer than the service allows.",
        "Choose a shorter range, or fewer links by `tags`, `domainId`, `creator` or `urlIds`.",
    ),
    "unavailable": ErrorCode(
        (503,),
        "Temporarily unavailable",
        "The service is overloaded, or a part that it needs does not respond, such as its database.",
        "Repeat the request after the time in `Retry-After`; a creation with the same `Idempotency-Key`.",
    ),
    "internal_error": ErrorCode(
        (500,),
        "Internal error",
        "The service has a defect. It has recorded the error.",
        "Tell the operator the `requestId`, under which the log has the details.",
    ),
}
