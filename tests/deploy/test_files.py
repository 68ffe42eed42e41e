"""What cannot be run everywhere is read by the linters and schemas of who will run it, and must agree with itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from shortener_project.supervisor import STOP_SECONDS
from tests.programs import PACKAGES, program
from tests.service.running import REPOSITORY

DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
UNIT = (REPOSITORY / "deploy/shortener.service").read_text()
COMPOSE = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())
MANIFESTS = ("kubernetes.yaml", "kubernetes-drain.yaml")
# Of Python's, of the image's and of systemd's making.
NOT_OURS = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


def objects(manifest: str) -> dict[str, Any]:
    documents = yaml.safe_load_all((REPOSITORY / "deploy" / manifest).read_text())
    return {f"{document['kind']}/{document['metadata']['name']}": document for document in documents}


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_is_what_hadolint_wants() -> None:
    run(program("hadolint"), "Dockerfile")


def test_compose_yaml_has_the_form_that_compose_specifies() -> None:
    run(program("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "compose.yaml")


@pytest.mark.parametrize("version", ["1.30.0", "1.37.0"])
@pytest.mark.parametrize("manifest", MANIFESTS)
def test_the_manifests_have_the_form_that_kubernetes_specifies(manifest: str, version: str) -> None:
    run(program("kubernetes-validate"), "--strict", "--kubernetes-version", version, f"deploy/{manifest}")


def test_systemd_understands_the_unit_and_finds_little_that_it_may_do(tmp_path: Path) -> None:
    analyze = program("systemd-analyze")
    unit = tmp_path / "shortener.service"
    # It looks whether the program is there.
    unit.write_text(UNIT.replace("/opt/shortener/.venv/bin/python", sys.executable))
    run(analyze, "verify", str(unit))
    # Of 100, where a service with the usual defaults has 96.
    run(analyze, "security", "--offline=true", "--threshold=15", str(unit))


def test_ci_installs_every_program_that_tests_need() -> None:
    (listed,) = re.findall(r"^for program in (.*); do$", (REPOSITORY / ".ci/run").read_text(), re.MULTILINE)
    installed = {}
    for word in listed.split():
        name, _, package = word.partition(":")
        installed[name] = package or name
    assert installed == PACKAGES


def test_every_variable_is_one_that_the_readme_tells_of() -> None:
    known = set(re.findall(r"`([A-Z][A-Z_]+)`", (REPOSITORY / "README.md").read_text())) | NOT_OURS
    image = re.findall(r"([A-Z_]+)=", "\n".join(re.findall(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)))
    unit = re.findall(r"([A-Z_]+)=", " ".join(re.findall(r"^Environment=(.*)$", UNIT, re.MULTILINE)))
    used = {
        *image,
        *unit,
        *COMPOSE["services"]["service"]["environment"],
        *objects("kubernetes.yaml")["ConfigMap/shortener"]["data"],
    }
    assert used - known == set()


def test_nobody_is_killed_before_the_supervisor_gives_up() -> None:
    stateful_set = objects("kubernetes.yaml")["StatefulSet/shortener"]["spec"]["template"]["spec"]
    (pause,) = [
        int(container["lifecycle"]["preStop"]["exec"]["command"][1])
        for container in stateful_set["containers"]
    ]
    graces = [
        int(COMPOSE["services"]["service"]["stop_grace_period"].removesuffix("s")),
        int(re.findall(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)[0]),
        stateful_set["terminationGracePeriodSeconds"] - pause,
    ]
    assert min(graces) > STOP_SECONDS


def test_everything_runs_as_the_images_account_and_writes_to_its_volume() -> None:
    (account,) = re.findall(r"^USER (\d+):\1$", DOCKERFILE, re.MULTILINE)
    (volume,) = re.findall(r"^VOLUME (\S+)$", DOCKERFILE, re.MULTILINE)
    service = COMPOSE["services"]["service"]
    assert (service["read_only"], service["cap_drop"], service["volumes"]) == (
        True,
        ["ALL"],
        [f"journal:{volume}"],
    )
    pods = [
        objects("kubernetes.yaml")["StatefulSet/shortener"]["spec"]["template"]["spec"],
        objects("kubernetes-drain.yaml")["Job/drain"]["spec"]["template"]["spec"],
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


def test_composes_service_believes_caddy_and_nobody_else() -> None:
    caddy = COMPOSE["services"]["caddy"]
    assert (
        COMPOSE["services"]["service"]["environment"]["TRUSTED_PROXIES"]
        == caddy["networks"]["default"]["ipv4_address"] + "/32"
    )
    assert caddy["environment"]["UPSTREAM"] == "service:8000"
