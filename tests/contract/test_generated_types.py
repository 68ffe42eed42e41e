"""Types that are generated from the description with default options accept the shortest calls and read well."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from testing.contract.description import described as described
from testing.nodejs import node, node_modules

REPOSITORY = Path(__file__).parents[2]
CALLS = Path(__file__).parent / "first_calls.ts"


def first_body_of_the_readme() -> str:
    [body] = re.findall(r"curl \S+/api/urls .*?-d '(\{.*?\})'", (REPOSITORY / "README.md").read_text(), re.S)
    return body


@pytest.mark.slow
def test_the_first_call_of_the_readme_compiles_with_default_options(
    anonymous: APIClient, tmp_path: Path
) -> None:
    modules = node_modules()
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "schema.json").write_bytes(anonymous.get("/api/schema").content)
    shutil.copy(CALLS, tmp_path)
    (tmp_path / "readme.ts").write_text(
        'import type { NewLink } from "./first_calls.js";\n'
        f"export const body: NewLink = {first_body_of_the_readme()};\n"
    )

    generated = node(
        modules / "openapi-typescript/bin/cli.js", "schema.json", "--output", "api.ts", cwd=tmp_path
    )
    assert generated.returncode == 0, generated.stderr
    compiled = node(
        modules / "typescript/bin/tsc",
        *("--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"),
        *(CALLS.name, "readme.ts"),
        cwd=tmp_path,
    )

    assert (compiled.returncode, compiled.stdout) == (0, "")


def test_request_fields_have_no_default_that_makes_them_required(described: dict[str, Any]) -> None:
    defaults = [
        f"{component}.{name}"
        for component, schema in described["components"]["schemas"].items()
        for name, field in schema.get("properties", {}).items()
        if "default" in field
    ]
    assert defaults == []


def inline_types(schema: Any, path: str, *, is_component: bool = False) -> Iterator[str]:
    """Enumerations and objects within a schema. Generators name these after their position."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from inline_types(item, f"{path}.{index}")
    elif isinstance(schema, dict):
        if not is_component and (
            "enum" in schema or "properties" in schema or schema.get("type") == "object"
        ):
            yield path
        for name, value in schema.get("properties", {}).items():
            yield from inline_types(value, f"{path}.{name}")
        for key in ("items", "allOf", "anyOf", "oneOf"):
            yield from inline_types(schema.get(key), f"{path}.{key}")


def test_every_type_of_the_components_has_a_name_of_its_own(described: dict[str, Any]) -> None:
    unnamed = [
        path
        for component, schema in described["components"]["schemas"].items()
        for path in inline_types(schema, component, is_component=True)
    ]
    # Fields of any object, in the history and in an export, and details of an error: objects without described keys.
    assert unnamed == [
        *("Change.before", "Change.after", "Error.data", "Event.data", "ExportAccountData.parts"),
        *("LinkUpdatedData.before", "LinkUpdatedData.after"),
    ]


def test_names_of_requests_read_well(described: dict[str, Any]) -> None:
    assert {name for name in described["components"]["schemas"] if name.endswith("Request")} == {
        *("LoginRequest", "RefreshTokenRequest", "AddDomainRequest", "DomainSettingsRequest"),
        *(
            "CreateLinkRequest",
            "DuplicateLinkRequest",
            "UpdateLinkRequest",
            "UpsertLinkRequest",
            "RestrictionsRequest",
            "UtmRequest",
            "ImportRequest",
        ),
        *("BulkCreateRequest", "BulkUpdateRequest", "BulkDeleteRequest", "CreateQrCodeRequest"),
        *("CreateWebhookRequest", "UpdateWebhookRequest", "TestWebhookRequest", "ReplayEventsRequest"),
        *("WebhookFilterIdsRequest", "DeliveryRequest"),
        *("CreateQrDesignRequest", "UpdateQrDesignRequest", "QrSheetRequest"),
        *("RuleRequest", "ConditionRequest", "VariantRequest", "PreviewRequest", "SimulationRequest"),
        *("UpdateAccountRequest", "ChangePasswordRequest"),
        *("CreateWorkspaceRequest", "UpdateWorkspaceRequest", "UpdateMemberRequest", "InviteRequest"),
        *("CreateKeyRequest", "UpdateKeyRequest", "RotateKeyRequest", "MoveRequest"),
        *("CreateTokenIssuerRequest", "UpdateTokenIssuerRequest", "JwksRequest", "JwkRequest"),
        *(
            "CreateUtmTemplateRequest",
            "UpdateUtmTemplateRequest",
            "UtmValuesRequest",
            "AllowedUtmValuesRequest",
        ),
        *("LinkChangesRequest", "UpdateTagRequest"),
        *("CreateViewRequest", "UpdateViewRequest", "ViewFiltersRequest", "ViewReportRequest"),
        *("CreateShareRequest", "UpdateShareRequest", "ReportMailsRequest", "UpdateEventFeedRequest"),
        *("MoveDomainRequest", "DomainPagesRequest", "PageWordsRequest"),
        *("AppLinksRequest", "AppleAppsRequest", "AndroidAppRequest"),
        *("SelectedExportRequest", "SealedExportRequest", "CheckRequest"),
    }


def test_names_of_enumerations_read_well(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    assert {name for name, schema in schemas.items() if "enum" in schema} == {
        *("EventType", "DeliveryStatus", "WebhookFormat"),
        *("ClickKind", "CodeAlphabet", "DetectedImportFormat", "DeviceType", "DnsRecordType", "DomainStatus"),
        *(
            "ErrorCorrectionLevel",
            "ImportFormat",
            "ExportFormat",
            "Plan",
            "QrArchiveFormat",
            "QrCodeFormat",
            "QrCodeStyle",
            "QrFramePosition",
            "QrSheetPaper",
            "RedirectType",
        ),
        *(
            *("DayOfWeek", "HealthCheck", "HealthStatus"),
            "ReferrerPolicy",
            "ReportPeriod",
            "ShareStatus",
            "SimulationCheck",
            "VisitMethod",
            "Role",
            "Scope",
            "TagAction",
            "TagChangeStatus",
            "UnavailableCode",
            "UrlStatus",
            "Via",
            "KeyOwner",
        ),
    }
