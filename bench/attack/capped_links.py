"""python -m bench.attack.capped_links: how many visits learn the destination of a link with a limit on clicks.

Tries HEAD requests, prefetches, crawlers and previews on many connections at once. Prints each kind of request and how
many visits learned the destination. The exit status is 1 if more visits than clicks learned it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

from bench.harness.running import installation
from bench.harness.stack import service_folder

CAP, SHARE, TRIES = 5, 2, 200
DESTINATION = "https://secret.example/"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
ATTEMPTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "HEAD": ("HEAD", "", {}),
    "prefetch": ("GET", "", {"Sec-Purpose": "prefetch"}),
    "prerender": ("GET", "", {"Sec-Purpose": "prefetch;prerender"}),
    "crawler": ("GET", "", {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1)"}),
    "JSON": ("HEAD", "", {"Accept": "application/json"}),
    "preview": ("GET", "+", {}),
    "preview in JSON": ("GET", "+", {"Accept": "application/json"}),
    "POST": ("POST", "", {}),
    "clicks": ("GET", "", {}),
}


def main() -> None:
    with (
        service_folder() as folder,
        installation(folder) as service,
        ThreadPoolExecutor(16) as pool,
    ):
        key, leaks = service.owner.api_key, 0
        for restrictions, limit in (
            ({"maxClicks": CAP}, CAP),
            ({"maxClicks": CAP, "maxClicksPerVisitor": SHARE}, SHARE),
        ):
            link = service.create_link(key, originalUrl=DESTINATION, restrictions=restrictions)
            for name in ATTEMPTS:
                learned = sum(pool.map(_visit(service.port, link["shortCode"], name), range(TRIES)))
                allowed = limit if name == "clicks" else 0
                leaks += max(0, learned - allowed)
                print(f"{restrictions} {name}: {learned} of {TRIES} learned the destination", flush=True)
    if leaks:
        raise SystemExit(1)


def _visit(port: int, code: str, name: str) -> Callable[[int], bool]:
    """Returns a function that sends one request and reports whether the response contains the destination."""
    method, suffix, headers = ATTEMPTS[name]

    def visit(_: int) -> bool:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        sent = {"Host": f"127.0.0.1:{port}", "User-Agent": BROWSER, **headers}
        connection.request(method, f"/{code}{suffix}", headers=sent)
        response = connection.getresponse()
        text = f"{response.getheaders()} {response.read().decode()}"
        connection.close()
        return "secret.example" in text

    return visit


if __name__ == "__main__":
    main()
