"""The settings that follow from environment variables, which the service reads when it starts."""

import os
import stat
from pathlib import Path

import pytest

from testing.settings_module import POSTGRES, SECRET, load, refusal, run


def test_defaults_listen_on_loopback_only(tmp_path: Path) -> None:
    values = load(
        tmp_path, "BASE_URL", "BASE_HOST", "BASE_HOSTS", "BASE_PORT", "PORT", "EMBEDDED_DATABASE", "DEBUG",
        "TRUSTED_PROXIES", "CORS_ALLOWED_ORIGINS", "LOG_FORMAT", "VAR_DIR",
    )  # fmt: skip
    assert values == {
        "BASE_HOSTS": ["127.0.0.1", "[::1]", "localhost"],
        "BASE_URL": "http://localhost:8000",
        "BASE_HOST": "localhost",
        "BASE_PORT": 8000,
        "PORT": 8000,
        "EMBEDDED_DATABASE": True,
        "DEBUG": False,
        "TRUSTED_PROXIES": [],
        "CORS_ALLOWED_ORIGINS": [],
        "LOG_FORMAT": "text",
        "VAR_DIR": str(tmp_path),
    }


def test_secret_is_generated_for_the_embedded_database(tmp_path: Path) -> None:
    first = load(tmp_path, "SECRET_KEY")["SECRET_KEY"]
    secret_file = tmp_path / "secret_key"
    assert secret_file.read_text().strip() == first
    assert stat.S_IMODE(secret_file.stat().st_mode) == 0o600
    assert load(tmp_path, "SECRET_KEY")["SECRET_KEY"] == first


def test_configured_secret_is_used_and_not_stored(tmp_path: Path) -> None:
    assert load(tmp_path, "SECRET_KEY", SECRET_KEY=SECRET)["SECRET_KEY"] == SECRET
    assert not (tmp_path / "secret_key").exists()


def test_database_url_requires_a_secret_key(tmp_path: Path) -> None:
    message = (
        "DATABASE_URL is set, so SECRET_KEY must be set too (50 random characters, the same on every host)."
    )
    assert refusal(tmp_path, DATABASE_URL=POSTGRES) == message
    assert refusal(tmp_path, DATABASE_URL=POSTGRES, SECRET_KEY="  ") == message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("weak", ["x", "x" * 200, "abcdefg" * 10, "abcdefghijklmnopqrstuvwxyz01234"])
@pytest.mark.parametrize("more", [{}, {"DATABASE_URL": POSTGRES}])
def test_weak_secret_is_refused(tmp_path: Path, weak: str, more: dict[str, str]) -> None:
    assert refusal(tmp_path, SECRET_KEY=weak, **more) == (
        "SECRET_KEY must have at least 32 characters, 8 of them different. This prints one: "
        "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
    )


def test_shortest_strong_secret_and_weak_former_secrets_are_accepted(tmp_path: Path) -> None:
    secret = "abcdefgh" * 4
    assert load(tmp_path, "SECRET_KEY", SECRET_KEY=secret, SECRET_KEY_FALLBACKS="x")["SECRET_KEY"] == secret


def test_command_line_reports_invalid_settings_in_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, "manage.py", "check", DATABASE_URL=POSTGRES)
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "error: DATABASE_URL is set, so SECRET_KEY must be set too"
        " (50 random characters, the same on every host).\n",
    )


@pytest.mark.parametrize(
    ("url", "stored", "host", "port"),
    [
        ("https://go.example.com", "https://go.example.com", "go.example.com", 443),
        ("https://go.example.com/", "https://go.example.com", "go.example.com", 443),
        ("http://go.example.com:8080", "http://go.example.com:8080", "go.example.com", 8080),
        ("http://[::1]:8000", "http://[::1]:8000", "[::1]", 8000),
    ],
)
def test_base_url_is_an_address_without_a_path(
    url: str, stored: str, host: str, port: int, tmp_path: Path
) -> None:
    values = load(tmp_path, "BASE_URL", "BASE_HOST", "BASE_PORT", BASE_URL=url, SECRET_KEY=SECRET)
    assert values == {"BASE_URL": stored, "BASE_HOST": host, "BASE_PORT": port}


@pytest.mark.parametrize(
    "url",
    [
        "go.example.com",
        "ftp://go.example.com",
        "https://",
        "https:go.example.com",
        "https://go.example.com/links",
        "https://go.example.com?x=1",
        "https://go.example.com#x",
        "https://user@go.example.com",
        "https://go example.com",
        "https://gö.example.com",
        "https://go.example.com:99999",
        "https://go.example.com:http",
        "https://[::1",
    ],
)
def test_invalid_base_url_is_rejected(url: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, BASE_URL=url, SECRET_KEY=SECRET) == (
        f"BASE_URL must look like https://go.example.com, not {url.rstrip('/')!r}."
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PORT", "0", "PORT must be a whole number from 1 to 65535, not '0'."),
        ("PORT", "http", "PORT must be a whole number from 1 to 65535, not 'http'."),
        ("TRUSTED_PROXIES", "proxy", "TRUSTED_PROXIES must list networks such as 10.0.0.0/8, not 'proxy'."),
        ("LOG_FORMAT", "xml", "LOG_FORMAT must be one of text, json, not 'xml'."),
        ("LOG_ADDRESSES", "1", "LOG_ADDRESSES must be one of no, yes, not '1'."),
        (
            *("METRICS_ALLOWED_NETWORKS", "monitoring"),
            "METRICS_ALLOWED_NETWORKS must list networks such as 10.0.0.0/8, not 'monitoring'.",
        ),
    ],
)
def test_invalid_value_is_named_in_the_error(name: str, value: str, message: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, **{name: value}, SECRET_KEY=SECRET) == message


def test_host_may_be_a_unix_socket(tmp_path: Path) -> None:
    assert load(tmp_path, "HOST", "LISTEN", SECRET_KEY=SECRET) == {
        "HOST": "127.0.0.1",
        "LISTEN": "127.0.0.1:8000",
    }
    path = "/run/shortener/http.sock"
    assert load(tmp_path, "HOST", "LISTEN", HOST=path, SECRET_KEY=SECRET) == {"HOST": path, "LISTEN": path}
    assert refusal(tmp_path, HOST=path, INTERNAL_LISTEN=path, SECRET_KEY=SECRET) == (
        f"INTERNAL_LISTEN must have another path than the service itself ({path})."
    )
    long = "/" + "x" * 107
    assert refusal(tmp_path, HOST=long, SECRET_KEY=SECRET) == (
        f"HOST: the path {long} exceeds 107 bytes, the limit for a socket path. "
        "Use a shorter path, or an IP address."
    )


def test_base_url_follows_the_port(tmp_path: Path) -> None:
    assert load(tmp_path, "BASE_URL", PORT="8123", SECRET_KEY=SECRET) == {"BASE_URL": "http://localhost:8123"}


@pytest.mark.parametrize(
    ("url", "secure"), [("https://go.example.com", True), ("http://go.example.com", False)]
)
def test_cookies_are_secure_if_the_base_url_is_https(url: str, secure: bool, tmp_path: Path) -> None:
    values = load(tmp_path, "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", BASE_URL=url, SECRET_KEY=SECRET)
    assert values == {"SESSION_COOKIE_SECURE": secure, "CSRF_COOKIE_SECURE": secure}


def test_token_lifetimes_can_be_set(tmp_path: Path) -> None:
    settings = load(
        tmp_path, "SIMPLE_JWT", ACCESS_TOKEN_MINUTES="5", REFRESH_TOKEN_DAYS="2", SECRET_KEY=SECRET
    )["SIMPLE_JWT"]
    assert settings["ACCESS_TOKEN_LIFETIME"] == "0:05:00"
    assert settings["REFRESH_TOKEN_LIFETIME"] == "2 days, 0:00:00"


def test_metrics_defaults_are_loopback_and_shared_memory(tmp_path: Path) -> None:
    names = ("METRICS_ALLOWED_NETWORKS", "METRICS_DIR")
    by_itself = load(tmp_path, *names)
    assert by_itself["METRICS_ALLOWED_NETWORKS"] == ["127.0.0.0/8", "::1/128"]
    memory = "/dev/shm/shortener-" if os.access("/dev/shm", os.W_OK) else f"{tmp_path}/metrics"
    assert str(by_itself["METRICS_DIR"]).startswith(memory)
    assert load(tmp_path, *names) == by_itself
    other = tmp_path / "other"
    assert load(other, *names)["METRICS_DIR"] != by_itself["METRICS_DIR"]
    assert load(
        tmp_path, *names, METRICS_ALLOWED_NETWORKS="10.0.0.0/8", PROMETHEUS_MULTIPROC_DIR="/run/metrics"
    ) == {"METRICS_ALLOWED_NETWORKS": ["10.0.0.0/8"], "METRICS_DIR": "/run/metrics"}


def test_limits_can_be_set_and_disabled(tmp_path: Path) -> None:
    names = ("RATE_LIMITS", "RATE_LIMIT_ANONYMOUS", "UNKNOWN_CODE_LIMIT", "LINK_QUOTAS")
    off = dict.fromkeys(("RATE_LIMIT_FREE", "RATE_LIMIT_PRO", "RATE_LIMIT_ENTERPRISE"), "")
    assert load(
        tmp_path, *names, SECRET_KEY=SECRET, **off, RATE_LIMIT_ANONYMOUS="", UNKNOWN_CODE_LIMIT=""
    ) == {
        "RATE_LIMITS": {"free": 600, "pro": 3_000, "enterprise": 12_000},
        "RATE_LIMIT_ANONYMOUS": 300,
        "UNKNOWN_CODE_LIMIT": 60,
        "LINK_QUOTAS": {"free": 0, "pro": 0, "enterprise": 0},
    }
    assert load(
        tmp_path,
        *names,
        SECRET_KEY=SECRET,
        RATE_LIMIT_FREE="5",
        RATE_LIMIT_PRO="0",
        RATE_LIMIT_ENTERPRISE="7",
        RATE_LIMIT_ANONYMOUS="0",
        UNKNOWN_CODE_LIMIT="0",
        LINK_QUOTA_FREE="100",
        LINK_QUOTA_PRO="200",
        LINK_QUOTA_ENTERPRISE="300",
    ) == {
        "RATE_LIMITS": {"free": 5, "pro": 0, "enterprise": 7},
        "RATE_LIMIT_ANONYMOUS": 0,
        "UNKNOWN_CODE_LIMIT": 0,
        "LINK_QUOTAS": {"free": 100, "pro": 200, "enterprise": 300},
    }
    assert refusal(tmp_path, SECRET_KEY=SECRET, UNKNOWN_CODE_LIMIT="1001") == (
        "UNKNOWN_CODE_LIMIT must be a whole number from 0 to 1000, not '1001'."
    )
