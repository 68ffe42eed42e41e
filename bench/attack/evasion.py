"""python -m bench.attack.evasion [--cycles N]: whether an account gets more than its plan by making workspaces.

An account on the free plan creates workspaces and uses up the quota of links and the rate of each, and deletes them to
create others. The exit status is 1 if it got more links or requests than the plan allows.
"""

from __future__ import annotations

import argparse
from collections import Counter

from bench.harness.stack import service_folder
from testing.service.hosts import started
from testing.service.running import Service

LINKS, REQUESTS = 3, 60
URL = "https://example.com/"


class Account:
    """Counts what the service grants it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        login = {"email": "free@example.com", "password": "correct horse battery"}
        service.manage("create_account", login["email"], "--password", login["password"]).check_returncode()
        self._token = service.call("POST", "/api/auth/login", login).json()["token"]
        self.links = 0
        self.statuses: Counter[int] = Counter()

    def call(
        self, method: str, path: str, body: object = None, workspace: str | None = None
    ) -> dict[str, object]:
        headers = {"Authorization": f"Bearer {self._token}"}
        if workspace is not None:
            headers["X_Workspace"] = workspace
        response = self._service.call(method, path, body, **headers)
        self.statuses[response.status] += 1
        self.links += (method, path, response.status) == ("POST", "/api/urls", 201)
        answer: dict[str, object] = response.json()
        return answer

    def use_up(self, workspace: str | None = None) -> None:
        """Create links until the service refuses, and delete them."""
        created = []
        for _ in range(LINKS + 1):
            answer = self.call("POST", "/api/urls", {"originalUrl": URL}, workspace)
            if answer["success"]:
                created.append(answer["data"]["url"]["_id"])  # type: ignore[index] # of the API
        for link in created:
            self.call("DELETE", f"/api/urls/{link}", None, workspace)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=10)
    cycles = parser.parse_args().cycles
    limits = {"LINK_QUOTA_FREE": str(LINKS), "RATE_LIMIT_FREE": str(REQUESTS), "WORKSPACES_PER_DAY": "5"}
    with service_folder(), started(**limits) as service:
        account = Account(service)
        account.use_up()
        for _ in range(cycles):
            answer = account.call("POST", "/api/workspaces", {"name": "another"})
            if answer["success"]:
                workspace = answer["data"]["workspace"]["_id"]  # type: ignore[index] # of the API
                account.use_up(workspace)
                account.call("DELETE", f"/api/workspaces/{workspace}")
    granted = sum(number for status, number in account.statuses.items() if status != 429)
    print(
        f"{account.links} links at a quota of {LINKS}, in {cycles} cycles; answers: {dict(account.statuses)}"
    )
    print(f"{granted} requests were not refused; the rate is {REQUESTS} a minute")
    if account.links > LINKS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
