"""Settings are read when a process starts, so each case is a process."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
POSTGRES = "postgres://user:pass@db.example:5433/links"
READ_BY_SETTINGS = {
    *("DATABASE_URL", "SECRET_KEY", "SECRET_KEY_FALLBACKS", "BASE_URL", "PORT", "VAR_DIR", "TRUSTED_PROXIES"),
    *("LOG_FORMAT", "LOG_LEVEL", "CORS_ALLOWED_ORIGINS", "ACCESS_TOKEN_MINUTES", "REFRESH_TOKEN_DAYS"),
    *("STATEMENT_TIMEOUT_MS", "GEOIP_DATABASE", "GEODATA_URL"),
    *("LOG_ADDRESSES", "METRICS_ALLOWED_NETWORKS", "PROMETHEUS_MULTIPROC_DIR"),
}
LOAD = """
import json, sys
from django.core.exceptions import ImproperlyConfigured
try:
    from shortener_project import settings
except ImproperlyConfigured as error:
    sys.exit("refused: " + str(error))
print(json.dumps({name: getattr(settings, name) for name in sys.argv[1:]},
    default=lambda value: sorted(value) if isinstance(value, frozenset) else str(value)))
"""


def run(var: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in READ_BY_SETTINGS}
    return subprocess.run(
        [sys.executable, *command],
        cwd=PROJECT,
        env={**environment, "VAR_DIR": str(var), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def load(var: Path, *names: str, **variables: str) -> dict[str, object]:
    done = run(var, "-c", LOAD, *names, **variables)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def refusal(var: Path, **variables: str) -> str:
    """The one line that a start ends with."""
    done = run(var, "-c", LOAD, **variables)
    assert done.returncode == 1
    assert done.stderr.startswith("refused: "), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("refused: ").strip()


def test_without_a_word_it_serves_on_this_machine_alone(tmp_path: Path) -> None:
    found = load(
        tmp_path, "BASE_URL", "BASE_HOST", "BASE_HOSTS", "BASE_PORT", "PORT", "EMBEDDED_DATABASE", "DEBUG",
        "TRUSTED_PROXIES", "CORS_ALLOWED_ORIGINS", "LOG_FORMAT", "VAR_DIR",
    )  # fmt: skip
    assert found == {
        "BASE_HOSTS": ["127.0.0.1", "[::1]", "localhost"],
        "BASE_URL": "http://127.0.0.1:8000",
        "BASE_HOST": "127.0.0.1",
        "BASE_PORT": 8000,
        "PORT": 8000,
        "EMBEDDED_DATABASE": True,
        "DEBUG": False,
        "TRUSTED_PROXIES": [],
        "CORS_ALLOWED_ORIGINS": [],
        "LOG_FORMAT": "text",
        "VAR_DIR": str(tmp_path),
    }


def test_secret_is_made_and_kept_beside_the_embedded_database(tmp_path: Path) -> None:
    first = load(tmp_path, "SECRET_KEY")["SECRET_KEY"]
    kept = tmp_path / "secret_key"
    assert kept.read_text().strip() == first
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert load(tmp_path, "SECRET_KEY")["SECRET_KEY"] == first


def test_given_secret_is_used_and_none_is_kept(tmp_path: Path) -> None:
    assert load(tmp_path, "SECRET_KEY", SECRET_KEY="given")["SECRET_KEY"] == "given"
    assert not (tmp_path / "secret_key").exists()


def test_database_of_ones_own_needs_a_secret_of_ones_own(tmp_path: Path) -> None:
    message = (
        "DATABASE_URL is set, so SECRET_KEY must be set too (50 random characters, the same on every host)."
    )
    assert refusal(tmp_path, DATABASE_URL=POSTGRES) == message
    assert refusal(tmp_path, DATABASE_URL=POSTGRES, SECRET_KEY="  ") == message
    assert list(tmp_path.iterdir()) == []


def test_command_line_says_it_in_one_line_too(tmp_path: Path) -> None:
    done = run(tmp_path, "manage.py", "check", DATABASE_URL=POSTGRES)
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "error: DATABASE_URL is set, so SECRET_KEY must be set too"
        " (50 random characters, the same on every host).\n",
    )


def test_database_url_is_taken_apart(tmp_path: Path) -> None:
    found = load(tmp_path, "DATABASES", "EMBEDDED_DATABASE", DATABASE_URL=POSTGRES, SECRET_KEY="given")
    assert found["EMBEDDED_DATABASE"] is False
    default = found["DATABASES"]["default"]  # type: ignore[index]
    assert {name: default[name] for name in ("ENGINE", "HOST", "PORT", "USER", "PASSWORD", "NAME")} == {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": "db.example",
        "PORT": 5433,
        "USER": "user",
        "PASSWORD": "pass",
        "NAME": "links",
    }
    assert default["CONN_MAX_AGE"] is None


def test_statement_timeout_does_not_drop_the_operators_own_options(tmp_path: Path) -> None:
    url = POSTGRES + "?options=-c%20search_path%3Dlinks&sslmode=require"
    found = load(tmp_path, "DATABASES", DATABASE_URL=url, SECRET_KEY="given", STATEMENT_TIMEOUT_MS="5000")
    options = found["DATABASES"]["default"]["OPTIONS"]  # type: ignore[index]
    assert options["sslmode"] == "require"
    assert options["options"].split() == [
        "-c", "search_path=links", "-c", "statement_timeout=5000", "-c", "jit=off",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "url",
    ["sqlite:///db.sqlite3", "sqlite://:memory:", "mysql://user@db.example/links", "oracle://user@db.example/links",
     "postgis://user@db.example/links"],
)  # fmt: skip
def test_other_databases_are_refused(url: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, DATABASE_URL=url, SECRET_KEY="given") == (
        "DATABASE_URL must name a PostgreSQL database: postgres://…"
    )


@pytest.mark.parametrize(
    "url",
    ["nonsense", "db.example/links", "http://db.example/links", "postgres://user@db.example:port/links",
     "postgres://user@db.example:99999/links", "postgres://[::1/links"],
)  # fmt: skip
def test_what_is_no_database_url_is_refused(url: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, DATABASE_URL=url, SECRET_KEY="given") == (
        "DATABASE_URL must look like postgres://user:password@host:5432/name."
    )


@pytest.mark.parametrize(
    ("url", "kept", "host", "port"),
    [
        ("https://go.example.com", "https://go.example.com", "go.example.com", 443),
        ("https://go.example.com/", "https://go.example.com", "go.example.com", 443),
        ("http://go.example.com:8080", "http://go.example.com:8080", "go.example.com", 8080),
        ("http://[::1]:8000", "http://[::1]:8000", "[::1]", 8000),
    ],
)
def test_base_url_is_an_address_without_a_path(
    url: str, kept: str, host: str, port: int, tmp_path: Path
) -> None:
    found = load(tmp_path, "BASE_URL", "BASE_HOST", "BASE_PORT", BASE_URL=url, SECRET_KEY="given")
    assert found == {"BASE_URL": kept, "BASE_HOST": host, "BASE_PORT": port}


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
def test_base_url_that_no_short_link_could_begin_with_is_refused(url: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, BASE_URL=url, SECRET_KEY="given") == (
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
def test_bad_value_is_named(name: str, value: str, message: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, **{name: value}, SECRET_KEY="given") == message


def test_base_url_follows_the_port(tmp_path: Path) -> None:
    assert load(tmp_path, "BASE_URL", PORT="8123", SECRET_KEY="given") == {
        "BASE_URL": "http://127.0.0.1:8123"
    }


@pytest.mark.parametrize(
    ("url", "secure"), [("https://go.example.com", True), ("http://go.example.com", False)]
)
def test_cookies_are_for_tls_only_where_there_is_tls(url: str, secure: bool, tmp_path: Path) -> None:
    found = load(tmp_path, "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", BASE_URL=url, SECRET_KEY="given")
    assert found == {"SESSION_COOKIE_SECURE": secure, "CSRF_COOKIE_SECURE": secure}


def test_token_lifetimes_can_be_set(tmp_path: Path) -> None:
    settings = load(
        tmp_path, "SIMPLE_JWT", ACCESS_TOKEN_MINUTES="5", REFRESH_TOKEN_DAYS="2", SECRET_KEY="given"
    )["SIMPLE_JWT"]
    assert settings["ACCESS_TOKEN_LIFETIME"] == "0:05:00"  # type: ignore[index]
    assert settings["REFRESH_TOKEN_LIFETIME"] == "2 days, 0:00:00"  # type: ignore[index]


def test_metrics_are_for_this_machine_and_in_memory_unless_it_is_said_otherwise(tmp_path: Path) -> None:
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


def test_limits_can_be_set_and_switched_off(tmp_path: Path) -> None:
    names = ("RATE_LIMITS", "RATE_LIMIT_ANONYMOUS", "UNKNOWN_CODE_LIMIT", "LINK_QUOTAS")
    off = dict.fromkeys(("RATE_LIMIT_FREE", "RATE_LIMIT_PRO", "RATE_LIMIT_ENTERPRISE"), "")
    assert load(
        tmp_path, *names, SECRET_KEY="given", **off, RATE_LIMIT_ANONYMOUS="", UNKNOWN_CODE_LIMIT=""
    ) == {
        "RATE_LIMITS": {"free": 600, "pro": 3_000, "enterprise": 12_000},
        "RATE_LIMIT_ANONYMOUS": 300,
        "UNKNOWN_CODE_LIMIT": 60,
        "LINK_QUOTAS": {"free": 0, "pro": 0, "enterprise": 0},
    }
    assert load(
        tmp_path,
        *names,
        SECRET_KEY="given",
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
    assert refusal(tmp_path, SECRET_KEY="given", UNKNOWN_CODE_LIMIT="1001") == (
        "UNKNOWN_CODE_LIMIT must be a whole number from 0 to 1000, not '1001'."
    )
