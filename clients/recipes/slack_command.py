"""The slash command ``/shorten URL [CODE]`` of Slack: ``python slack_command.py``, behind a proxy with TLS.

Needs SHORTENER_URL, SHORTENER_API_KEY (a key with the scopes urls:read and urls:write) and SLACK_SIGNING_SECRET (in
Slack: *Basic Information* of the app). PORT is 8080 by default. Python's standard library is enough.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs
from urllib.request import Request, urlopen

# Older requests may be repetitions by somebody who recorded them.
MAX_AGE_SECONDS = 300
MAX_BODY = 64 * 1024
# Slack shows an error if no answer comes in three seconds.
SECONDS = 2.5


def is_from_slack(secret: str, timestamp: str, signature: str, body: bytes, now: float) -> bool:
    """Whether Slack has signed the request (docs.slack.dev, "Verifying requests from Slack")."""
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(now - int(timestamp)) > MAX_AGE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), b"v0:%s:%s" % (timestamp.encode(), body), hashlib.sha256)
    return hmac.compare_digest(f"v0={expected.hexdigest()}".encode(), signature.encode())


def answer(command: str) -> str:
    """What Slack shows to whoever sent the command."""
    # Slack may write an address as <https://example.com|example.com>.
    url, _, code = command.strip().partition(" ")
    url = url.strip("<>").partition("|")[0]
    if not url:
        return "Usage: /shorten URL [CODE]"
    fields: dict[str, object] = {"originalUrl": url, "tags": ["slack"], "findIfExists": True}
    if code.strip():
        fields["customCode"] = code.strip()
    headers = {"X-API-Key": os.environ["SHORTENER_API_KEY"], "Content-Type": "application/json"}
    address = os.environ["SHORTENER_URL"] + "/api/urls"
    request = Request(address, json.dumps(fields).encode(), headers)  # noqa: S310 # the operator's own
    try:
        with urlopen(request, timeout=SECONDS) as response:  # noqa: S310 # see above
            return str(json.load(response)["data"]["url"]["shortUrl"])
    except HTTPError as error:
        return str(json.load(error)["message"])
    except (URLError, TimeoutError):
        return "The URL shortener does not respond. Please try again."


class Receiver(BaseHTTPRequestHandler):
    # A client that is silent for longer occupies no thread.
    timeout = 10

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        body = self.rfile.read(int(length))
        timestamp, signature = (
            self.headers.get(f"X-Slack-{name}", "") for name in ("Request-Timestamp", "Signature")
        )
        if not is_from_slack(os.environ["SLACK_SIGNING_SECRET"], timestamp, signature, body, time.time()):
            self.send_error(HTTPStatus.UNAUTHORIZED)
            return
        [command] = parse_qs(body.decode()).get("text", [""])
        content = json.dumps({"response_type": "ephemeral", "text": answer(command)}).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
