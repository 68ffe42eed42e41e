"""Responses about links and QR codes agree with the description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from testing.cases import for_each
from testing.contract.description import QR_CODE, UNKNOWN_ID, WHOLE, validate
from testing.contract.description import agrees as agrees
from testing.contract.description import described as described


def test_many_links_are_as_described(
    api: APIClient, anonymous: APIClient, described: dict[str, Any], agrees: Callable[..., Any]
) -> None:
    schemas = described["components"]["schemas"]
    for name, field in [
        ("BulkCreate", "urls"),
        ("BulkUpdate", "urls"),
        ("BulkUpdate", "ids"),
        ("BulkDelete", "ids"),
        ("Move", "ids"),
    ]:
        most = schemas[f"{name}Request"]["properties"][field]
        assert most.items() >= {"minItems": 1, "maxItems": 1000}.items()
    body = {"urls": [{"originalUrl": "https://example.com/"}, WHOLE, {"originalUrl": 5}, {}]}
    validate(described, {"$ref": "#/components/schemas/BulkCreateRequest"}, body)
    results = agrees(api.post("/api/urls/bulk", body), 200)["data"]["results"]
    assert [result["status"] for result in results] == [201, 201, 400, 400]
    ids = [result["url"]["_id"] for result in results[:2]]
    whole = {name: value for name, value in WHOLE.items() if name not in ("originalUrl", "domainId")}
    for changes in (
        {"ids": [*ids, UNKNOWN_ID], "data": {"title": "x"}},
        {"urls": [{"_id": ids[0], **whole, "isActive": False}, {"_id": ids[1], "redirectType": 303}, {}]},
    ):
        validate(described, {"$ref": "#/components/schemas/BulkUpdateRequest"}, changes)
        agrees(api.post("/api/urls/bulk-update", changes), 200)
    team = agrees(api.post("/api/workspaces", {"name": "Marketing"}), 201)["data"]["workspace"]["_id"]
    agrees(api.post("/api/urls/move", {"ids": ["x"], "workspaceId": UNKNOWN_ID}), 404)
    agrees(api.post("/api/urls/move", {"ids": [ids.pop(), "x"], "workspaceId": team}), 200)
    agrees(api.post("/api/urls/bulk-delete", {"ids": [*ids, "x"]}), 200)
    assert len(agrees(api.post("/api/urls/bulk-delete", {"ids": [*ids, "x"]}), 404)["data"]["results"]) == 2
    body = {
        "urls": [
            {"originalUrl": "https://example.com/", "colour": 1, "pasword": 1},
            {"originalUrl": "https://example.com/", "colour": 1},
        ]
    }
    assert [
        result["status"] for result in agrees(api.post("/api/urls/bulk", body), 200)["data"]["results"]
    ] == [
        400,
        201,
    ]
    for path in ("bulk", "bulk-update", "bulk-delete", "import", "move"):
        agrees(api.post(f"/api/urls/{path}", {}), 400)
        agrees(anonymous.post(f"/api/urls/{path}", {}), 401)
        agrees(api.post(f"/api/urls/{path}", b" " * 9_000_000, content_type="application/json"), 413)


def test_files_are_as_described(
    api: APIClient, anonymous: APIClient, described: dict[str, Any], agrees: Callable[..., Any]
) -> None:
    rows = "originalUrl,customCode,clickCount\nhttps://example.com/,spring,7\nhttps://example.com/,admin,\n"
    for dry_run in (True, False):
        body = {"content": rows, "dryRun": dry_run, "format": "own", "domainId": "base"}
        validate(described, {"$ref": "#/components/schemas/ImportRequest"}, body)
        results = agrees(api.post("/api/urls/import", body), 200)["data"]["results"]
        assert [result["status"] for result in results] == [201, 409]
    agrees(api.get(f"/api/urls/{results[0]['url']['_id']}"), 200)
    agrees(api.post("/api/urls/import", {"content": rows, "domainId": UNKNOWN_ID}), 404)
    agrees(api.post("/api/urls/import", {"content": "x"}), 400)
    responses = described["paths"]["/api/urls/export"]["get"]["responses"]["200"]["content"]
    files = [api.get(f"/api/urls/export?format={name}") for name in ("csv", "jsonl")]
    assert all(b"".join(file.streaming_content) for file in files)
    served = {file["Content-Type"].partition(";")[0] for file in files}
    assert served == set(responses)
    agrees(api.get("/api/urls/export?format=xlsx"), 400)
    assert api.post("/api/urls/bulk-export", {"ids": ["x"]}).status_code == 200
    agrees(api.post("/api/urls/bulk-export", {"ids": []}), 400)
    agrees(anonymous.get("/api/urls/export"), 401)


@pytest.mark.parametrize("body", [{"originalUrl": "https://example.com/"}, WHOLE], ids=["least", "whole"])
def test_links_are_as_described(api: APIClient, agrees: Callable[..., Any], body: dict[str, Any]) -> None:
    link = agrees(api.post("/api/urls", body), 201)["data"]["url"]
    path = f"/api/urls/{link['_id']}"
    agrees(api.get("/api/urls"), 200)
    whole = agrees(api.get(path), 200)["data"]["url"]
    agrees(api.put(path, {}), 200)
    agrees(api.put(path, whole), 200)
    agrees(api.put(path, {**dict.fromkeys(set(body) - {"originalUrl"}), "isActive": False}), 200)
    agrees(api.get("/api/urls/stats"), 200)
    agrees(api.get("/api/urls/domains/available"), 200)
    agrees(api.delete(path), 200)
    agrees(api.get("/api/urls/stats"), 200)


VISIT = {
    "country": "DE", "address": "203.0.113.9", "device": "mobile", "userAgent": "", "language": "de", "referrer": "",
    "query": "qr=1", "time": "2030-03-01T09:30:00Z", "unlocked": True, "method": "HEAD",
}  # fmt: skip


@for_each("visit", [{}, VISIT, dict.fromkeys(VISIT)])
@for_each("fields", [{}, {"password": "secret"}, WHOLE])
def test_simulations_are_as_described(
    api: APIClient,
    agrees: Callable[..., Any],
    described: dict[str, Any],
    *,
    visit: dict[str, Any],
    fields: dict[str, Any],
) -> None:
    body = {"originalUrl": "https://example.com/", **fields}
    link = agrees(api.post("/api/urls", body), 201)["data"]["url"]
    validate(described, {"$ref": "#/components/schemas/SimulationRequest"}, visit)
    agrees(api.post(f"/api/urls/{link['_id']}/simulate", visit), 200)


@pytest.mark.parametrize("fields", [{}, QR_CODE], ids=["least", "whole"])
def test_qr_codes_are_as_described(
    api: APIClient,
    make_link: Callable[..., dict[str, Any]],
    agrees: Callable[..., Any],
    described: dict[str, Any],
    fields: dict[str, Any],
) -> None:
    body = {"urlId": make_link()["_id"], **fields}
    validate(described, {"$ref": "#/components/schemas/CreateQrCodeRequest"}, body)
    code = agrees(api.post("/api/qr-codes", body), 201)["data"]["qrCode"]
    path = f"/api/qr-codes/{code['_id']}"
    agrees(api.get("/api/qr-codes", {"urlId": body["urlId"], "limit": 1}), 200)
    agrees(api.get(path), 200)
    light_on_dark = {"foregroundColor": "#FFFFFF", "backgroundColor": "#000000"}
    inverted = agrees(api.post("/api/qr-codes", {**body, **light_on_dark}), 201)
    assert [warning["code"] for warning in inverted["warnings"]] == ["inverted"]
    equal = {"foregroundColor": "#1A2B3C", "backgroundColor": "#1A2B3D"}
    agrees(api.post("/api/qr-codes", {**body, **equal}), 400)
    agrees(api.post("/api/qr-codes", {**body, "urlId": UNKNOWN_ID}), 404)
    agrees(api.post("/api/qr-codes", {**body, "logo": "x" * 210_000}), 413)
    agrees(api.get("/api/qr-codes", {"urlId": UNKNOWN_ID}), 404)
    agrees(api.get("/api/qr-codes?page=0"), 400)
    agrees(api.delete(path), 200)
    agrees(api.delete(path), 404)
