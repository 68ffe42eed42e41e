from __future__ import annotations

from collections.abc import Callable

from tests.service.running import Service, eventually

VISITOR = "203.0.113.77"


def test_once_clicks_are_counted_no_file_of_the_installation_names_a_visitors_address(
    make_service: Callable[..., Service],
) -> None:
    service = make_service(TRUSTED_PROXIES="127.0.0.1/32")
    service.start()
    key = service.owner.api_key
    links = [
        service.create_link(key, **fields)
        for fields in ({}, {"restrictions": {"maxClicks": 9}}, {"password": "x"})
    ]
    statuses = [
        service.ask("GET", f"/{code}", X_Forwarded_For=VISITOR).status
        for code in (*(link["shortCode"] for link in links), "nothing")
    ]
    assert statuses == [302, 302, 401, 404]
    segments = list((service.var_dir / "clicks").glob("*.segment"))
    assert [segment.stat().st_mode & 0o777 for segment in segments] == [0o600] * len(segments)

    def reported() -> list[int]:
        reports = [
            service.ask("GET", f"/api/analytics/{link['_id']}", X_API_Key=key).json()["data"]
            for link in links
        ]
        return [report["totalClicks"] + report["refused"].get("password", 0) for report in reports]

    eventually(lambda: reported() == [1, 1, 1])
    # The last of it is overwritten after the transaction that counts it.
    eventually(lambda: not naming(service))
    assert service.stop() == 0
    assert naming(service) == []


def naming(service: Service) -> list[str]:
    """The files that do; those of the database server and the output of the service included."""
    found = []
    for path in service.folder.rglob("*"):
        if path.is_file() and VISITOR.encode() in path.read_bytes():
            found.append(str(path))
    return found
