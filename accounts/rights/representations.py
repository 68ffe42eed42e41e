"""The JSON object of a plan's limits."""

from __future__ import annotations

from django.conf import settings

from accounts.capacity.storage import storage_limit
from accounts.rights.plans import allows_custom_domains, links_per_month, requests_per_minute
from common.openapi.response_fields import number
from common.openapi.responses import Representation

_UNLIMITED = "Null: no limit."

limits_of_plan = Representation(
    "AccountLimits",
    number(
        "requestsPerMinute",
        lambda plan: requests_per_minute(plan) or None,
        600,
        f"API requests. {_UNLIMITED}",
        allow_null=True,
    ),
    number(
        "linksPerMonth",
        lambda plan: links_per_month(plan) or None,
        1000,
        f"Links that can be created in a calendar month. {_UNLIMITED}",
        allow_null=True,
    ),
    number(
        "domains",
        lambda plan: settings.DOMAINS_PER_ACCOUNT or None if allows_custom_domains(plan) else 0,
        0,
        f"Custom domains. {_UNLIMITED}",
        allow_null=True,
    ),
    number(
        "qrCodes",
        lambda plan: settings.QR_CODES_PER_ACCOUNT or None,
        100_000,
        f"QR codes. {_UNLIMITED}",
        allow_null=True,
    ),
    number(
        "storedBytes",
        lambda plan: storage_limit(plan) or None,
        5_000_000_000,
        f"Bytes of links and QR codes. {_UNLIMITED}",
        allow_null=True,
    ),
)
