"""Files for deployments are checked by the linters and schemas of the tools that use them, and against each other."""

from __future__ import annotations

import re
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from shortener_project import __version__
from shortener_project.running.supervisor import STOP_SECONDS
from testing.chart import MANIFESTS
from testing.programs import PACKAGES, program
from testing.service.running import REPOSITORY
from tests.deploy.checks import run

pytestmark = pytest.mark.slow

DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
UNIT = (REPOSITORY / "deploy/shortener.service").read_text()
COMPOSE = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())
# Created by Python, the image or systemd.
NOT_OURS = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


def objects(manifest: str) -> dict[str, Any]:
    documents = yaml.safe_load_all((REPOSITORY / "deploy" / manifest).read_text())
    return {f"{document['kind']}/{document['metadata']['name']}": document for document in documents}


def test_hadolint_accepts_the_dockerfile() -> None:
    run(program("hadolint"), "Dockerfile")


def test_compose_yaml_matches_its_schema() -> None:
    run(program("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "compose.yaml")


@pytest.mark.parametrize("version", ["1.30.0", "1.37.0"])
@pytest.mark.parametrize("manifest", MANIFESTS)
def test_the_manifests_match_the_schemas_of_kubernetes(manifest: str, version: str) -> None:
    run(program("kubernetes-validate"), "--strict", "--kubernetes-version", version, f"deploy/{manifest}")


def test_systemd_accepts_the_unit_and_rates_its_exposure_low(tmp_path: Path) -> None:
    analyze = program("systemd-analyze")
    unit = tmp_path / "shortener.service"
    # systemd checks that the program exists.
    unit.write_text(UNIT.replace("/opt/shortener/.venv/bin/python", sys.executable))
    run(analyze, "verify", str(unit))
    # Of 100; a service with the default settings has 96.
    run(analyze, "security", "--offline=true", "--threshold=15", str(unit))


def test_ci_installs_every_program_that_tests_need() -> None:
    (listed,) = re.findall(r"^for program in (.*); do$", (REPOSITORY / ".ci/run").read_text(), re.MULTILINE)
    installed = {}
    for word in listed.split():
        name, _, package = word.partition(":")
        installed[name] = package or name
    assert installed == PACKAGES


def test_every_variable_is_on_the_configuration_page() -> None:
    known = (
        set(re.findall(r"`([A-Z][A-Z_]+)`", (REPOSITORY / "docs/configuration.md").read_text())) | NOT_OURS
    )
    image = re.findall(r"([A-Z_]+)=", "\n".join(re.findall(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)))
    unit = re.findall(r"([A-Z_]+)=", " ".join(re.findall(r"^Environment=(.*)$", UNIT, re.MULTILINE)))
    used = {
        *image,
        *unit,
        *COMPOSE["services"]["service"]["environment"],
        *objects("kubernetes.yaml")["ConfigMap/shortener"]["data"],
    }
    assert used - known == set()


def test_stop_timeouts_are_longer_than_the_supervisors() -> None:
    stateful_set = objects("kubernetes.yaml")["StatefulSet/shortener"]["spec"]["template"]["spec"]
    (pause,) = [
        int(container["lifecycle"]["preStop"]["exec"]["command"][1])
        for container in stateful_set["containers"]
    ]
    grace_periods = [
        int(COMPOSE["services"]["service"]["stop_grace_period"].removesuffix("s")),
        int(re.findall(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)[0]),
        stateful_set["terminationGracePeriodSeconds"] - pause,
    ]
    assert min(grace_periods) > STOP_SECONDS


def test_everything_runs_as_the_account_of_the_image_and_writes_to_its_volume() -> None:
    (account,) = re.findall(r"^USER (\d+):\1$", DOCKERFILE, re.MULTILINE)
    (volume,) = re.findall(r"^VOLUME (\S+)$", DOCKERFILE, re.MULTILINE)
    service = COMPOSE["services"]["service"]
    assert (service["read_only"], service["cap_drop"], service["volumes"]) == (
        True,
        ["ALL"],
        [f"journal:{volume}", "sockets:/run/shortener"],
    )
    pods = [
        objects("kubernetes.yaml")["StatefulSet/shortener"]["spec"]["template"]["spec"],
        objects("kubernetes-drain.yaml")["Job/shortener-drain-2"]["spec"]["template"]["spec"],
    ]
    for pod in pods:
        assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["fsGroup"]) == (int(account),) * 2
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["volumeMounts"][0] == {"name": "journal", "mountPath": volume}


@pytest.mark.parametrize("number", range(2))
def test_debians_caddy_accepts_the_caddyfile_with_the_documented_settings(
    number: int, tmp_path: Path
) -> None:
    guide = (REPOSITORY / "docs/deployment.md").read_text()
    units = guide.split("shortener.conf <<'EOF'")[1:]
    settings = dict(re.findall(r'Environment="(\w+)=(.*)"', units[number].partition("EOF\n")[0]))
    assert settings["REQUEST_BUFFERING"] == "buffer_requests"
    caddy = program("caddy")
    command = [caddy, "validate", "--adapter", "caddyfile", "--config", "deploy/Caddyfile"]
    version = subprocess.run([caddy, "version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, re.findall(r"\d+", version)[:2])) >= (2, 7):
        del settings["REQUEST_BUFFERING"]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env={"HOME": str(tmp_path)} | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_image_is_labelled_with_its_release() -> None:
    assert COMPOSE["services"]["service"]["build"] == {"context": ".", "args": {"VERSION": __version__}}
    labels = dict(re.findall(r"(org\.opencontainers\.image\.\w+)=(\S+)", DOCKERFILE))
    assert labels["org.opencontainers.image.version"] == "${VERSION}"
    assert labels["org.opencontainers.image.revision"] == "${REVISION}"
    assert re.findall(r"^ARG (VERSION|REVISION)=unknown$", DOCKERFILE, re.MULTILINE) == [
        "VERSION",
        "REVISION",
    ]


def test_the_service_of_kubernetes_trusts_single_addresses() -> None:
    settings = objects("kubernetes.yaml")["ConfigMap/shortener"]["data"]
    for name in ("TRUSTED_PROXIES", "METRICS_ALLOWED_NETWORKS"):
        assert ip_network(settings[name]).num_addresses == 1


def test_the_memory_of_the_service_is_limited_everywhere() -> None:
    pod = objects("kubernetes.yaml")["StatefulSet/shortener"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["resources"]["limits"] == {"memory": "2Gi"}
    assert COMPOSE["services"]["service"]["mem_limit"] == "4g"
    unit = (REPOSITORY / "deploy/shortener.service").read_text()
    # If one process is killed for its memory use, the service must continue.
    for line in ("MemoryHigh=3G", "MemoryMax=4G", "OOMPolicy=continue"):
        assert f"\n{line}\n" in unit
