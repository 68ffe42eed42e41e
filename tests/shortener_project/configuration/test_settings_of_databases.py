"""Settings of the database: its URL, its servers and its timeouts."""

from pathlib import Path

import pytest

from testing.settings_module import POSTGRES, SECRET, load, refusal


def test_database_url_is_parsed(tmp_path: Path) -> None:
    values = load(tmp_path, "DATABASES", "EMBEDDED_DATABASE", DATABASE_URL=POSTGRES, SECRET_KEY=SECRET)
    assert values["EMBEDDED_DATABASE"] is False
    default = values["DATABASES"]["default"]
    assert {name: default[name] for name in ("ENGINE", "HOST", "PORT", "USER", "PASSWORD", "NAME")} == {
        "ENGINE": "common.postgresql",
        "HOST": "db.example",
        "PORT": 5433,
        "USER": "user",
        "PASSWORD": "pass",
        "NAME": "links",
    }
    assert default["CONN_MAX_AGE"] is None


def test_statement_timeout_does_not_drop_the_operators_own_options(tmp_path: Path) -> None:
    url = POSTGRES + "?options=-c%20search_path%3Dlinks&sslmode=require"
    values = load(tmp_path, "DATABASES", DATABASE_URL=url, SECRET_KEY=SECRET, STATEMENT_TIMEOUT_MS="5000")
    options = values["DATABASES"]["default"]["OPTIONS"]
    assert options["sslmode"] == "require"
    # Behind the service's own, so that the operator's win.
    assert options["options"].split()[-6:] == [
        "-c", "search_path=links", "-c", "statement_timeout=5000", "-c", "jit=off",
    ]  # fmt: skip


def test_a_command_has_no_timeout_that_would_end_a_migration_or_an_import(
    tmp_path: Path,
) -> None:
    values = load(tmp_path, "DATABASES", DATABASE_URL=POSTGRES, SECRET_KEY=SECRET)
    options = values["DATABASES"]["default"]["OPTIONS"]
    assert "lock_timeout=0" in options["options"].split()
    assert "idle_in_transaction_session_timeout=60000" in options["options"].split()
    assert "statement_timeout" not in options["options"]
    assert {name: options[name] for name in ("keepalives_idle", "tcp_user_timeout")} == {
        "keepalives_idle": 5, "tcp_user_timeout": 10_000,
    }  # fmt: skip


def test_timeouts_in_the_database_url_take_precedence(tmp_path: Path) -> None:
    url = POSTGRES + "?options=-c%20lock_timeout%3D7&keepalives_idle=9"
    values = load(tmp_path, "DATABASES", DATABASE_URL=url, SECRET_KEY=SECRET)
    options = values["DATABASES"]["default"]["OPTIONS"]
    assert options["keepalives_idle"] == 9
    assert options["options"].split()[-1] == "lock_timeout=7"


@pytest.mark.parametrize(
    "url",
    ["sqlite:///db.sqlite3", "sqlite://:memory:", "mysql://user@db.example/links", "oracle://user@db.example/links",
     "postgis://user@db.example/links"],
)  # fmt: skip
def test_other_databases_are_rejected(url: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, DATABASE_URL=url, SECRET_KEY=SECRET) == (
        "DATABASE_URL must name a PostgreSQL database: postgres://…"
    )


@pytest.mark.parametrize(
    "url",
    ["nonsense", "db.example/links", "http://db.example/links", "postgres://user@db.example:port/links",
     "postgres://user@db.example:99999/links", "postgres://[::1/links"],
)  # fmt: skip
def test_invalid_database_url_is_rejected(url: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, DATABASE_URL=url, SECRET_KEY=SECRET) == (
        "DATABASE_URL must look like postgres://user:password@host:5432/name."
    )


@pytest.mark.parametrize(
    ("servers", "host", "port"),
    [
        ("a.example:5432,b.example:5433", "a.example,b.example", "5432,5433"),
        ("a.example,b.example:5433", "a.example,b.example", "5432,5433"),
        ("[2001:db8::1]:5433,[2001:db8::2]", "2001:db8::1,2001:db8::2", "5433,5432"),
        ("%2Frun%2Fone,%2Frun%2Ftwo:6000", "/run/one,/run/two", "5432,6000"),
    ],
)
def test_database_url_may_name_several_servers(servers: str, host: str, port: str, tmp_path: Path) -> None:
    url = f"postgres://user:p,ss@{servers}/links"
    default = load(tmp_path, "DATABASES", DATABASE_URL=url, SECRET_KEY=SECRET)["DATABASES"]["default"]
    assert (default["HOST"], default["PORT"]) == (host, port)
    assert (default["USER"], default["PASSWORD"], default["NAME"]) == ("user", "p,ss", "links")
    assert default["OPTIONS"]["target_session_attrs"] == "read-write"


def test_target_session_attrs_can_be_overridden(tmp_path: Path) -> None:
    url = "postgres://user@a.example,b.example/links?target_session_attrs=any"
    default = load(tmp_path, "DATABASES", DATABASE_URL=url, SECRET_KEY=SECRET)["DATABASES"]["default"]
    assert default["OPTIONS"]["target_session_attrs"] == "any"


@pytest.mark.parametrize("servers", ["a.example,", ",b.example", "a.example:port,b.example"])
def test_invalid_server_lists_are_rejected(servers: str, tmp_path: Path) -> None:
    line = refusal(tmp_path, DATABASE_URL=f"postgres://user@{servers}/links", SECRET_KEY=SECRET)
    assert line.startswith("DATABASE_URL must look like postgres://user:password@host")


def test_client_timeout_exceeds_the_statement_timeout(tmp_path: Path) -> None:
    environment = {"DATABASE_URL": POSTGRES, "SECRET_KEY": SECRET}
    default = load(tmp_path, "DATABASES", STATEMENT_TIMEOUT_MS="2000", **environment)["DATABASES"]["default"]
    assert default["RESPONSE_SECONDS"] == 3.0
    default = load(tmp_path, "DATABASES", **environment)["DATABASES"]["default"]
    assert "RESPONSE_SECONDS" not in default


def test_the_database_of_reports_is_read_only_and_prefers_standbys(tmp_path: Path) -> None:
    url = "postgres://user:pass@db2.example,db3.example/links"
    values = load(
        tmp_path,
        "DATABASES",
        "DATABASE_ROUTERS",
        DATABASE_URL=POSTGRES,
        SECRET_KEY=SECRET,
        REPORTS_DATABASE_URL=url,
    )
    reports = values["DATABASES"]["reports"]
    assert (reports["HOST"], reports["RESPONSE_SECONDS"]) == ("db2.example,db3.example", 3.0)
    assert reports["OPTIONS"]["target_session_attrs"] == "prefer-standby"
    assert reports["OPTIONS"]["options"].endswith("-c default_transaction_read_only=on")
    assert values["DATABASE_ROUTERS"] == ["common.reports_database.Router"]
    wrong = refusal(
        tmp_path, DATABASE_URL=POSTGRES, SECRET_KEY=SECRET, REPORTS_DATABASE_URL="mysql://db2/links"
    )
    assert "REPORTS_DATABASE_URL must name a PostgreSQL database" in wrong
