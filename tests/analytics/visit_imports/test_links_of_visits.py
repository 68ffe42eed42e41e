"""Which link the visits of a file belong to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from testing.links.many import URL, imported
from tests.analytics.reading import report
from tests.analytics.visit_imports.visit_files import (
    SHLINK_VISIT,
    YOURLS,
    clicks_by_day,
    rows_of_reports,
    run,
    shlink_visits,
)
from tests.analytics.visit_imports.visit_files import file as file
from tests.analytics.visit_imports.visit_files import links as links


def test_other_accounts_links_and_unknown_codes_are_refused(
    api: APIClient, strange_api: APIClient, stranger: NewAccount, file: Path
) -> None:
    imported(strange_api, json.dumps({"originalUrl": URL, "customCode": "my-link"}))
    file.write_text(YOURLS)
    before = rows_of_reports()
    assert run(file, "--apply") == (
        [
            "refused, not_found: http://sho.rt/my-link: visits 3, days 2",
            "refused, not_found: http://sho.rt/other: visits 1, days 1",
            "0 of 4 visits were added (yourls), 0 rows do not count, 0 rows were refused.",
        ],
        1,
    )
    assert rows_of_reports() == before


def test_visits_stay_on_their_domain_or_go_to_the_named_one(
    api: APIClient, alice: NewAccount, file: Path
) -> None:
    domain = Domain.objects.create(owner=alice.workspace, domain="s.test", host="s.test", status="active")
    ids = {}
    for domain_id in ("base", str(domain.public_id)):
        [verdict] = imported(
            api, json.dumps({"originalUrl": URL, "customCode": "my-link"}), domainId=domain_id
        )
        ids[domain_id] = verdict["url"]["_id"]
    on_base, on_domain = ids.values()
    file.write_text(
        json.dumps(SHLINK_VISIT | {"date": "2024-03-01T09:30:00Z", "visitedUrl": "https://s.test/my-link"})
    )
    for arguments, link in (((), on_domain), (("--domain", "base"), on_base)):
        assert run(file, "--apply", *arguments)[1] == 0
        assert report(api, link)["totalClicks"] == 1
    file.write_text("click_id,click_time,shorturl\n1,2024-03-02 00:00:00,my-link\n")
    assert run(file, "--apply", "--domain", "S.test")[0][0] == "https://s.test/my-link: visits 1, days 1"
    assert (report(api, on_domain)["totalClicks"], report(api, on_base)["totalClicks"]) == (2, 1)


def test_hosts_are_compared_without_port_and_user(api: APIClient, alice: NewAccount, file: Path) -> None:
    domain = Domain.objects.create(owner=alice.workspace, domain="s.test", host="s.test", status="active")
    imported(api, json.dumps({"originalUrl": URL, "customCode": "my-link"}), domainId=str(domain.public_id))
    file.write_text(
        shlink_visits("http://S.test:8080/my-link", "https://me@s.test/my-link", "https://s.test./my-link")
    )
    assert run(file, "--apply") == (
        [
            "https://s.test/my-link: visits 3, days 1",
            "3 of 3 visits were added (shlink), 0 rows do not count, 0 rows were refused.",
        ],
        0,
    )


@pytest.mark.parametrize("status", ["inactive", "pending"])
def test_visits_of_a_deactivated_domain_stay_there_but_a_claim_is_no_domain(
    api: APIClient, alice: NewAccount, links: dict[str, Any], file: Path, status: str
) -> None:
    domain = Domain.objects.create(owner=alice.workspace, domain="s.test", host="s.test", status="active")
    imported(api, json.dumps({"originalUrl": URL, "customCode": "my-link"}), domainId=str(domain.public_id))
    Domain.objects.update(status=status)
    file.write_text(shlink_visits("https://s.test/my-link"))
    address = {"inactive": "https://s.test/my-link", "pending": "http://sho.rt/my-link"}[status]
    assert run(file, "--apply")[0][0] == f"{address}: visits 1, days 1"
    assert clicks_by_day(api, links["my-link"]) == {"inactive": {}, "pending": {"2024-03-01": 1}}[status]


def test_a_code_on_several_foreign_hosts_is_refused(
    api: APIClient, links: dict[str, Any], file: Path
) -> None:
    hosts = ("a.test", "b.test", "sho.rt", "a.test")
    file.write_text(shlink_visits(*(f"https://{host}/my-link" for host in hosts), "https://a.test/other"))
    assert run(file, "--apply") == (
        [
            "refused, ambiguous_host: a.test/my-link: visits 2, days 1",
            "refused, ambiguous_host: b.test/my-link: visits 1, days 1",
            "http://sho.rt/my-link: visits 1, days 1",
            "http://sho.rt/other: visits 1, days 1",
            "2 of 5 visits were added (shlink), 0 rows do not count, 0 rows were refused.",
        ],
        1,
    )
    assert clicks_by_day(api, links["my-link"]) == {"2024-03-01": 1}
    assert run(file, "--apply", "--domain", "base")[1] == 0
    assert clicks_by_day(api, links["my-link"]) == {"2024-03-01": 4}
