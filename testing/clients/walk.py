"""A call of every operation of the API, in an order in which each finds what it needs. A new operation needs a step.

``$name`` in a value is what an earlier step saved under this name, or `email`, `password` and `apiKey` of the account.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# A name that never resolves (RFC 2606), because checks of destinations and webhooks call it.
ADDRESS = "https://destination.example/"
UNKNOWN = "019a0000-0000-7000-8000-000000000000"
# A public key; nobody has the private one.
JWK = {
    "kty": "EC",
    "crv": "P-256",
    "kid": "2026-11",
    "x": "AlylzuJ4hmdxxYfyVmYYQ7Tmx85hbdqUNAxk3rKLdJ8",
    "y": "llke7EnRUNnhKZWLBeht8P4_VeoX5xyi9_oMjhdye0g",
}
NEW_PASSWORD = "battery staple correct"


@dataclass(frozen=True)
class Step:
    """``save``: names for values of the answer, each with its path. ``error``: the status and code of a refusal."""

    call: str
    arguments: tuple[str, ...] = ()
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    save: dict[str, str] = field(default_factory=dict)
    error: tuple[int, str] | None = None


def step(call: str, *arguments: str, **rest: Any) -> Step:
    return Step(call, arguments, **rest)


_IN_THE_OTHER = {"workspace": "$workspace"}
_FILE = {"query": {"format": "csv"}}

WALK = [
    step(
        "login",
        body={"email": "$email", "password": "$password"},
        save={"token": "token", "refreshToken": "refreshToken"},
    ),
    step(
        "refreshToken",
        body={"refreshToken": "$refreshToken"},
        save={"token": "token", "refreshToken": "refreshToken"},
    ),
    # The account.
    step("getAccount"),
    step("updateAccount", body={"firstName": "Ada", "lastName": "Lovelace"}),
    step("exportAccount"),
    step("getApiKey"),
    step("listSessions"),
    step("createKey", body={"name": "Import", "scopes": ["urls:read"]}, save={"key": "data.key._id"}),
    step("listKeys"),
    step("iterateKeys"),
    step("updateKey", "$key", body={"name": "Nightly import"}),
    step("rotateKey", "$key", body={"graceSeconds": 60}, save={"key": "data.key._id"}),
    step("deleteKey", "$key"),
    step(
        "createTokenIssuer",
        body={
            "name": "Cluster",
            "issuer": "https://kubernetes.default.svc.cluster.local",
            "audience": ADDRESS,
            "subject": "system:serviceaccount:jobs:*",
            "jwks": {"keys": [JWK]},
            "scopes": ["urls:read"],
        },
        save={"tokenIssuer": "data.issuer._id"},
    ),
    step("listTokenIssuers"),
    step("iterateTokenIssuers"),
    step("getTokenIssuer", "$tokenIssuer"),
    step("updateTokenIssuer", "$tokenIssuer", body={"name": "Clusters"}),
    step("deleteTokenIssuer", "$tokenIssuer"),
    # Links.
    step("updateEventFeed", body={"types": ["link.created"]}),
    step("getEventFeed"),
    step(
        "createUtmTemplate",
        body={"name": "Mail", "values": {"source": "mail"}},
        save={"template": "data.template._id"},
    ),
    step("listUtmTemplates"),
    step("getUtmTemplate", "$template"),
    step("updateUtmTemplate", "$template", body={"name": "Mails"}),
    step(
        "createUrl",
        body={
            "originalUrl": ADDRESS,
            "title": "Spring",
            "tags": ["sale", "old"],
            "utmTemplateId": "$template",
            "restrictions": {"maxClicks": 5},
        },
        options={"prefer": "return=representation"},
        save={"link": "data.url._id", "shortUrl": "data.url.shortUrl"},
    ),
    step("createUrls", body={"urls": [{"originalUrl": ADDRESS}, {"originalUrl": ADDRESS}]}),
    step("importUrls", body={"content": f"originalUrl\n{ADDRESS}imported\n", "dryRun": False}),
    step(
        "upsertUrl",
        body={"originalUrl": ADDRESS, "externalId": "order-1815"},
        save={"other": "data.url._id"},
    ),
    step("listUrls", query={"limit": 2, "tags": "sale", "isActive": True}),
    step("iterateUrls", query={"limit": 2}),
    step("getUrl", "$link"),
    step("getUrl", UNKNOWN, error=(404, "not_found")),
    step("updateUrl", "$link", body={"title": "Summer"}),
    step("patchUrl", "$link", body={"title": "Autumn"}),
    step(
        "updateUrl",
        "$link",
        body={"title": "Winter"},
        options={"ifMatch": '"another"'},
        error=(412, "changed_meanwhile"),
    ),
    step("createUrl", body={"originalUrl": "no address"}, error=(400, "validation_error")),
    step("duplicateUrl", "$link", body={"title": "Copy"}),
    step("countUrls", query={"groupBy": "tag"}),
    step("updateUrls", body={"ids": ["$link"], "data": {"isActive": True}}),
    step("simulateUrl", "$link", body={"country": "DE"}),
    step("checkCode", query={"code": "Spring26"}),
    step("resolveUrl", query={"shortUrl": "$shortUrl"}),
    step("listAvailableDomains"),
    step("getUrlStats"),
    step("checkUrls", body={"ids": ["$link"]}),
    step("exportUrls", query={"format": "jsonl"}),
    step("exportUrlsWithPasswords", body={"passphrase": "correct horse battery staple"}),
    step("exportSelectedUrls", body={"ids": ["$link"], "format": "csv"}),
    step("listUrlChanges", "$link", save={"change": "data.changes.0._id"}),
    step("iterateUrlChanges", "$link", query={"limit": 1}),
    step("restoreUrlChange", "$link", "$change"),
    step("listChanges"),
    step("listRequests"),
    step("iterateRequests", query={"limit": 2}),
    step("iterateChanges", query={"limit": 2}),
    step("deleteUrl", "$other"),
    step("listDeletedUrls"),
    step("iterateDeletedUrls"),
    step("undeleteUrl", "$other"),
    # Tags and views.
    step("listTags"),
    step("iterateTags", query={"limit": 1}),
    step("downloadTags", **_FILE),
    step("getTag", "sale"),
    step("updateTag", "sale", body={"color": "#1A2B3C"}),
    step("deleteTag", "old", save={"tagChange": "data.change._id"}),
    step("listTagChanges"),
    step("iterateTagChanges"),
    step("getTagChange", "$tagChange"),
    step("undoTagChange", "$tagChange"),
    step("createView", body={"name": "Sale", "filters": {"tags": "sale"}}, save={"view": "data.view._id"}),
    step("listViews"),
    step("getView", "$view"),
    step("updateView", "$view", body={"name": "Sales"}),
    # Reports.
    step("getWorkspaceAnalytics", query={"period": "7d"}),
    step("downloadWorkspaceAnalytics", **_FILE),
    step("getAnalytics", "$link", query={"country": "DE", "limit": 3}),
    step("downloadAnalytics", "$link", **_FILE),
    step("getDevices", "$link"),
    step("downloadDevices", "$link", **_FILE),
    step("getGeographic", "$link"),
    step("downloadGeographic", "$link", query={"format": "jsonl", "manifest": True}),
    step("listClicks", "$link"),
    step("iterateClicks", "$link"),
    step("downloadClicks", "$link", query={"format": "parquet"}),
    step("listWorkspaceClicks"),
    step("iterateWorkspaceClicks"),
    step("downloadWorkspaceClicks", **_FILE),
    step("getSparklines", query={"urlIds": "$link"}),
    step("eraseVisits", "$link", query={"before": "2020-01-01"}),
    step("createShare", body={"urlId": "$link"}, save={"share": "data.share._id"}),
    step("listShares"),
    step("getShare", "$share"),
    step("updateShare", "$share", body={"noIndex": False}),
    step("deleteShare", "$share"),
    step("getReportMails"),
    step("updateReportMails", body={"weekly": False}),
    step("deleteView", "$view"),
    step("deleteUtmTemplate", "$template"),
    # QR codes.
    step("createQrCode", body={"urlId": "$link", "size": 200}, save={"qrCode": "data.qrCode._id"}),
    step("listQrCodes"),
    step("iterateQrCodes"),
    step("getQrCode", "$qrCode"),
    step("downloadQrCode", "$qrCode"),
    step("downloadQrSheet", body={"urlIds": ["$link"]}),
    step("deleteQrCode", "$qrCode"),
    step("createQrDesign", body={"name": "Flyers"}, save={"design": "data.design._id"}),
    step("listQrDesigns"),
    step("getQrDesign", "$design"),
    step("updateQrDesign", "$design", body={"name": "Posters"}),
    step("deleteQrDesign", "$design"),
    # Events and webhooks.
    step("listEvents"),
    step(
        "createWebhook",
        body={"name": "Shop", "types": ["link.created"], "url": ADDRESS},
        save={"webhook": "data.webhook._id"},
    ),
    step("listWebhooks"),
    step("getWebhook", "$webhook"),
    step("updateWebhook", "$webhook", body={"name": "Shops"}),
    step("listDeliveries", "$webhook"),
    step("iterateDeliveries", "$webhook"),
    step("testWebhook", "$webhook", body={"type": "link.created"}),
    step("resendDelivery", "$webhook", UNKNOWN, error=(404, "not_found")),
    step("replayEvents", "$webhook", body={"from": "2020-01-01T00:00:00Z"}),
    step("rotateWebhookSecret", "$webhook"),
    step("deleteWebhook", "$webhook"),
    # Domains and workspaces.
    step("createWorkspace", body={"name": "Marketing"}, save={"workspace": "data.workspace._id"}),
    step("listWorkspaces"),
    step("getWorkspace", "$workspace"),
    step("updateWorkspace", "$workspace", body={"name": "Sales"}),
    step("listMembers", "$workspace", save={"member": "data.members.0._id"}),
    step("updateMember", "$workspace", "$member", body={"role": "viewer"}, error=(409, "last_owner")),
    step("removeMember", "$workspace", "$member", error=(409, "last_owner")),
    step(
        "createInvitation",
        "$workspace",
        body={"role": "viewer"},
        save={"invitation": "data.invitation._id", "invitationToken": "data.invitation.token"},
    ),
    step("listInvitations", "$workspace"),
    step("acceptInvitation", "$invitationToken", error=(409, "already_member")),
    step("deleteInvitation", "$workspace", "$invitation"),
    step("addDomain", body={"domain": "$domain"}, save={"domainId": "data.domain._id"}),
    step("listDomains"),
    step("iterateDomains"),
    step("getDomain", "$domainId"),
    step("updateDomain", "$domainId", body={"notFoundUrl": ADDRESS}),
    step("getDomainAnalytics", "$domainId"),
    step("downloadDomainAnalytics", "$domainId", **_FILE),
    step("listUnknownCodes", "$domainId"),
    step("iterateUnknownCodes", "$domainId"),
    step("downloadUnknownCodes", "$domainId", **_FILE),
    step("verifyDomain", "$domainId", error=(400, "dns_not_configured")),
    step("moveDomain", "$domainId", body={"workspaceId": "$workspace"}),
    step("deleteDomain", "$domainId", options=_IN_THE_OTHER),
    step("moveUrls", body={"ids": ["$other"], "workspaceId": "$workspace"}),
    step("deleteUrls", body={"ids": ["$other"]}, options=_IN_THE_OTHER),
    step("deleteWorkspace", "$workspace"),
    # What ends the credentials.
    step("regenerateApiKey", save={"apiKey": "apiKey"}),
    step(
        "changePassword",
        body={"currentPassword": "$password", "newPassword": NEW_PASSWORD},
        save={"token": "token"},
    ),
    step("endSession", UNKNOWN, error=(404, "not_found")),
    step("logout"),
]
