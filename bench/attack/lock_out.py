"""python -m bench.attack.lock_out [--networks N]: whether strangers who guess a password can lock its owner out.

Each of N networks sends one wrong password, for an account and for a link, through a trusted proxy: unrelated networks
first, then neighbours within one IPv6 /52. Then the owner sends the correct password from a network that the service
does not know. Prints the attempts and the results. The exit status is 1 if the service refused the correct password.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from bench.harness.stack import service_folder
from testing.pages.html import Page
from testing.service.hosts import started
from testing.service.running import Connection, Service

PASSWORD, WRONG = "open sesame", "wrong"
OWNERS = ("198.51.100.5", "2001:db8:ffff::1")

# Sends this password from this address and returns the status of the response.
Guess = Callable[[str, str], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=100, choices=range(1, 257), metavar="1..256")
    count = parser.parse_args().networks
    attackers = {
        "unrelated networks": [f"10.{number}.7.1" for number in range(count)],
        "networks of one /52": [f"2001:db8:0:{number:x}::1" for number in range(count)],
    }
    held = True
    with service_folder():
        for name, addresses in attackers.items():
            with started(TRUSTED_PROXIES="127.0.0.0/8") as service:
                held &= _try(f"log-in, {name}", _log_in(service), addresses, service.owner.password, 200)
                held &= _try(f"link, {name}", _unlock(service), addresses, PASSWORD, 303)
    if not held:
        raise SystemExit(1)


def _try(name: str, guess: Guess, attackers: list[str], password: str, success: int) -> bool:
    """Whether every attempt of the owner succeeded and every other one failed."""
    statuses_of_attackers = Counter(guess(address, WRONG) for address in attackers)
    owners = [guess(address, password) for address in OWNERS]
    statuses = ", ".join(f"{status} ({number}x)" for status, number in sorted(statuses_of_attackers.items()))
    print(
        f"{name}: {len(attackers)} wrong passwords got {statuses}; the correct one, from two other networks,"
        f" got {owners[0]} and {owners[1]}",
        flush=True,
    )
    return owners == [success] * len(owners) and statuses_of_attackers.keys() <= {401, 429}


def _log_in(service: Service) -> Guess:
    email = service.owner.email

    def guess(address: str, password: str) -> int:
        body = {"email": email, "password": password}
        return service.call("POST", "/api/auth/login", body, X_Forwarded_For=address).status

    return guess


def _unlock(service: Service) -> Guess:
    path = f"/{service.create_link(service.owner.api_key, password=PASSWORD)['shortCode']}"

    def guess(address: str, password: str) -> int:
        with closing(Connection(service.port)) as connection:
            form = connection.call("GET", path, X_Forwarded_For=address)
            page = Page()
            page.feed(form.body.decode())
            cookies = SimpleCookie(form.headers["Set-Cookie"])
            headers = {
                "X-Forwarded-For": address,
                "Cookie": "; ".join(f"{name}={cookie.value}" for name, cookie in cookies.items()),
                "Content-Type": "application/x-www-form-urlencoded",
            }
            fields = {"csrfmiddlewaretoken": page.value_of("csrfmiddlewaretoken"), "password": password}
            connection.request("POST", path, urlencode(fields), headers)
            return connection.receive().status

    return guess


if __name__ == "__main__":
    main()
