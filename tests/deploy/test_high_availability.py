"""The kit in deploy/ha is checked by the programs that read its files, and against the runbook."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

from local_postgres.binaries import find_binaries
from testing.programs import program
from testing.service.running import REPOSITORY

pytestmark = pytest.mark.slow

KIT = REPOSITORY / "deploy/ha"
RUNBOOK = (REPOSITORY / "docs/high-availability.md").read_text()
SETTINGS = dict(
    line.partition("=")[::2]
    for line in (KIT / "ha.env").read_text().splitlines()
    if line and not line.startswith("#")
)
TEMPLATES = (
    "patroni.yml", "nftables.conf", "pgbackrest.conf", "keepalived.conf", "caddy.conf", "shortener.env",
    "etcd.service", "shortener-backup.service", "haproxy.cfg", "compose.yaml",
)  # fmt: skip
# By systemd and by `install`.
FILLED_IN = {"MAINPID", "PEER"}


def accepted(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=KIT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def filled(name: str, **changes: str) -> str:
    values = SETTINGS | {key: "secret" for key, value in SETTINGS.items() if not value} | changes
    return Template((KIT / name).read_text()).safe_substitute(values)


def patroni_of(folder: Path) -> dict[str, Any]:
    """With an address at which nothing is lost: the validation connects to it."""
    config: dict[str, Any] = yaml.safe_load(
        filled(
            "patroni.yml", HOST="127.0.0.2", PG_BIN=str(find_binaries().folder), DATA_DIR=str(folder / "data")
        )
    )
    return config


def test_every_placeholder_is_a_setting_and_every_setting_is_used() -> None:
    used = {name for template in TEMPLATES for name in re.findall(r"\$\{(\w+)", (KIT / template).read_text())}
    assert used - FILLED_IN == set(SETTINGS)


def test_each_machine_has_an_address_of_its_own() -> None:
    addresses = [SETTINGS[name] for name in ("DB1", "DB2", "DB3", "SERVICE1", "SERVICE2", "PROMETHEUS")]
    addresses.append(SETTINGS["ADDRESS"].partition("/")[0])
    assert len({ip_address(address) for address in addresses}) == 7
    assert SETTINGS["HOST"] == SETTINGS["DB1"]


def test_patroni_accepts_its_configuration(tmp_path: Path) -> None:
    config = patroni_of(tmp_path)
    # Patroni tries to connect to etcd.
    with socket.create_server(("127.0.0.1", 0)) as etcd:
        config["etcd3"]["hosts"] = [f"127.0.0.1:{etcd.getsockname()[1]}"] * 3
        path = tmp_path / "patroni.yml"
        path.write_text(yaml.safe_dump(config))
        accepted(program("patroni"), "--validate-config", "--ignore-listen-port", path)


def test_no_commit_is_acknowledged_that_a_failover_could_lose(tmp_path: Path) -> None:
    config = patroni_of(tmp_path)
    shared = config["bootstrap"]["dcs"]
    assert (
        shared["synchronous_mode"],
        shared["synchronous_mode_strict"],
        shared["synchronous_node_count"],
    ) == (
        "quorum",
        True,
        1,
    )
    assert (shared["failsafe_mode"], shared["check_timeline"], config["watchdog"]["mode"]) == (
        True,
        True,
        "required",
    )
    assert "data-checksums" in config["bootstrap"]["initdb"]
    # Patroni must notice that etcd is gone, and demote its PostgreSQL, before the watchdog resets the machine.
    longest_silence = shared["loop_wait"] + 2 * shared["retry_timeout"]
    assert longest_silence <= shared["ttl"] - config["watchdog"]["safety_margin"]


def test_haproxy_accepts_its_configuration() -> None:
    accepted(program("haproxy"), "-c", "-f", "haproxy.cfg", **SETTINGS)


@pytest.mark.parametrize("name", ["etcd.service", "patroni.service", "shortener-backup.service"])
def test_systemd_accepts_the_units(name: str, tmp_path: Path) -> None:
    analyze = program("systemd-analyze")
    unit = tmp_path / name
    # systemd checks that the programs exist.
    installed = r"(?<==)(etcd|/opt/patroni/bin/patroni|\+/usr/sbin/nft|/usr/bin/curl)(?= )"
    unit.write_text(re.sub(installed, sys.executable, (KIT / name).read_text()))
    accepted(analyze, "verify", unit)
    if name != "shortener-backup.service":
        accepted(analyze, "security", "--offline=true", "--threshold=25", unit)


def test_the_containers_match_their_schemas() -> None:
    accepted(program("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "compose.yaml")
    accepted(program("hadolint"), "Dockerfile")


def test_containers_and_units_have_the_same_settings() -> None:
    services = yaml.safe_load((KIT / "compose.yaml").read_text())["services"]
    (start,) = re.findall(
        r"^ExecStart=etcd (.*?[^\\])$", (KIT / "etcd.service").read_text(), re.DOTALL | re.MULTILINE
    )
    unit = re.sub(r"--([a-z-]+) ", r"--\1=", start.replace("\\\n", " ")).split()
    command = [word.replace(":?}", "}") for word in services["etcd"]["command"]]
    assert command == ["etcd", *unit]
    settings = dict(re.findall(r"^([A-Z0-9_]+)=(.*)$", (KIT / "shortener.env").read_text(), re.MULTILINE))
    environment = {
        key: value.replace(":?}", "}") for key, value in services["service"]["environment"].items()
    }
    assert environment == settings | {"LOG_FORMAT": "json"}


def test_containers_and_hosts_have_the_same_version_of_postgresql() -> None:
    (version,) = re.findall(r"/postgres:(\d+)-", (KIT / "Dockerfile").read_text())
    assert SETTINGS["PG_BIN"] == f"/usr/lib/postgresql/{version}/bin"


def test_the_firewall_closes_every_port_of_the_kit() -> None:
    (closed,) = re.findall(r"^\t\ttcp dport \{ ([\d, ]+) \} drop$", filled("nftables.conf"), re.MULTILINE)
    files = ("etcd.service", "patroni.yml", "caddy.conf", "shortener.env")
    used = {port for name in files for port in re.findall(r"\}:(\d{4})\b", (KIT / name).read_text())}
    scraped = set(re.findall(r"10\.0\.0\.\d+:(\d+)", (REPOSITORY / "deploy/prometheus.yml").read_text()))
    assert set(closed.split(", ")) == used | scraped


def test_the_runbook_names_files_of_the_kit() -> None:
    named = set(re.findall(r"/opt/shortener/deploy/ha/([\w.-]+)", RUNBOOK))
    assert named
    assert {name for name in named if not (KIT / name).exists()} == set()
    for name in ("install", "passwords"):
        assert os.access(KIT / name, os.X_OK)


def test_the_alerts_use_metrics_of_patroni() -> None:
    used = set(re.findall(r"\bpatroni_\w+", (REPOSITORY / "deploy/alerts.yml").read_text()))
    spec = find_spec("patroni.api")
    assert used
    assert spec is not None
    assert spec.origin is not None
    exported = set(re.findall(r"\bpatroni_\w+", Path(spec.origin).read_text()))
    assert used - exported == set()
