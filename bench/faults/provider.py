"""An identity provider that drips: its answers never end, and no read of them times out."""

from __future__ import annotations

import re
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager

import requests

from bench.faults.result import Result
from testing.service.hosts import started
from testing.service.running import Service
from testing.sign_in.oidc.dripping import DrippingProvider, dripping_provider

ROUNDS, LOGINS, FURTHER_CALLS = 3, 8, 50
# Without an answer until then, a login counts as held for ever.
PATIENCE = 60
_STATE = re.compile(r"[?&;]state=(\w+)")


def identity_provider_drips() -> Result:
    problems: list[str] = []
    longest, calls = 0.0, 0
    for drips_description in (True, False):
        with (
            dripping_provider() as provider,
            _served(provider) as service,
            ThreadPoolExecutor(LOGINS) as pool,
        ):
            provider.drips_description = drips_description
            # Not the time in which a new process loads its modules.
            assert service.call("GET", "/api/urls", X_API_Key=service.owner.api_key).status == 200
            for _ in range(ROUNDS):
                logins = [pool.submit(_log_in, service) for _ in range(LOGINS)]
                slowest, called, failed = _call_api_during(service, logins)
                longest, calls = max(longest, slowest), calls + called
                problems += failed
                problems += [f"a login got {status}" for login in logins if (status := login.result()) != 503]
            if provider.reached.empty():
                problems.append("the provider was never asked")
    return Result(
        f"{2 * ROUNDS} times {LOGINS} logins at once while the identity provider drips its description or its tokens:"
        f" {calls:,} API calls answered meanwhile, the slowest after {longest:.1f} s",
        problems,
    )


def _served(provider: DrippingProvider) -> AbstractContextManager[Service]:
    return started(
        OIDC_ISSUER=provider.issuer,
        OIDC_CLIENT_ID="shortener",
        OIDC_CLIENT_SECRET="x",  # of no provider
        API_CONCURRENCY="1",
    )


def _log_in(service: Service) -> int | str:
    """The status of the last page that the browser gets."""
    site = f"http://127.0.0.1:{service.port}/accounts"
    try:
        with requests.Session() as browser:
            browser.get(f"{site}/login/", timeout=PATIENCE)
            form = {"csrfmiddlewaretoken": browser.cookies["csrftoken"]}
            page = browser.post(f"{site}/oidc/login/", form, timeout=PATIENCE)
            state = _STATE.search(page.text)
            if page.status_code != 200 or state is None:
                return page.status_code
            answer = {"code": "x", "state": state[1]}
            return browser.get(f"{site}/oidc/callback/", params=answer, timeout=PATIENCE).status_code
    except requests.Timeout:
        return f"no answer within {PATIENCE} s"


def _call_api_during(service: Service, logins: list[Future[int | str]]) -> tuple[float, int, list[str]]:
    """The longest time of a call, the number of calls, and problems."""
    longest, calls, problems, further = 0.0, 0, [], FURTHER_CALLS
    while further:
        if all(login.done() for login in logins):
            further -= 1
        started_at = time.monotonic()
        try:
            status = service.call("GET", "/api/urls", X_API_Key=service.owner.api_key).status
        except OSError as error:
            problems.append(f"an API call got no answer: {error}")
            break
        longest, calls = max(longest, time.monotonic() - started_at), calls + 1
        if status != 200:
            problems.append(f"an API call got {status}")
    return longest, calls, problems
