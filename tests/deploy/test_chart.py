"""Helm renders the chart; the schemas of Kubernetes and of the operators' resources check what it renders."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from shortener_project import __version__
from testing.chart import CHART, DEPLOY, MANIFESTS, SCHEMA, helm, manifest, render, schema
from testing.nodejs import node, node_modules
from testing.programs import program
from tests.deploy.checks import run

pytestmark = pytest.mark.slow

CLOUDNATIVEPG = ("--set=cloudnativepg.enabled=true", "--set=cloudnativepg.storage.size=1Ti")
EVERYTHING = (
    *CLOUDNATIVEPG,
    "--set=image.tag=1.0.0@sha256:" + 64 * "0",
    "--set=drain={3,4},secrets.existing=,secrets.values.SECRET_KEY=" + 32 * "s",
    "--set=journal.storageClass=fast,pod.priorityClassName=high,settings.WEB_CONCURRENCY=4",
    "--set=ingress.className=nginx,ingress.annotations.name=value",
    "--set=gateway.enabled=true,gateway.parentRefs[0].name=public,gateway.hostnames={go.example.com,*.example.org}",
    "--set=monitoring.enabled=true,monitoring.labels.release=prometheus",
)
# Kubernetes' schemas do not have them.
MODELS = {
    "HTTPRoute": "gateway-api/gateway.networking.k8s.io/v1",
    "PrometheusRule": "prometheus-operator/monitoring.coreos.com/v1",
    "ServiceMonitor": "prometheus-operator/monitoring.coreos.com/v1",
}


def objects(*options: str) -> dict[str, Any]:
    documents = list(yaml.safe_load_all(render(*options)))
    by_name = {f"{document['kind']}/{document['metadata']['name']}": document for document in documents}
    assert len(by_name) == len(documents)
    return by_name


def container(pod: dict[str, Any]) -> dict[str, Any]:
    (only,) = pod["spec"]["template"]["spec"]["containers"]
    return dict(only)


def test_what_derives_from_the_chart_is_current() -> None:
    assert SCHEMA.read_text() == schema()
    assert {name: (DEPLOY / name).read_text() for name in MANIFESTS} == {
        name: manifest(name) for name in MANIFESTS
    }


def test_the_chart_has_the_version_of_the_release() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


@pytest.mark.parametrize("options", [(), EVERYTHING])
def test_helm_finds_nothing_wrong_with_the_chart(options: Sequence[str]) -> None:
    run(program("helm"), "lint", "--strict", str(CHART), *options)


def test_everything_matches_its_schema(tmp_path: Path) -> None:
    rendered = objects(*EVERYTHING)
    cluster = rendered.pop("Cluster/shortener-database")
    selector = rendered["Service/shortener"]["spec"]["selector"]
    assert not selector.items() <= cluster["metadata"]["labels"].items()
    # Its operator's schema, of release 1.30, has these fields; no registry has the schema.
    assert cluster["spec"] == {
        "instances": 3,
        "imageName": "ghcr.io/cloudnative-pg/postgresql:18",
        "storage": {"size": "1Ti"},
        "bootstrap": {"initdb": {"database": "shortener", "owner": "shortener", "dataChecksums": True}},
        "postgresql": {
            "synchronous": {
                "method": "any",
                "number": 1,
                "dataDurability": "required",
                "failoverQuorum": True,
            }
        },
    }
    typed, manifest_file = [], tmp_path / "objects.yaml"
    for name in list(rendered):
        kind = name.partition("/")[0]
        if kind in MODELS:
            typed.append(
                f'import type {{ I{kind} }} from "@kubernetes-models/{MODELS[kind]}/{kind}";\n'
                f"export const a{kind}: I{kind} = {json.dumps(rendered.pop(name))};\n"
            )
    manifest_file.write_text(yaml.safe_dump_all(rendered.values()))
    run(program("kubernetes-validate"), "--strict", "--kubernetes-version=1.37.0", str(manifest_file))
    (tmp_path / "objects.mts").write_text("".join(typed))
    (tmp_path / "node_modules").symlink_to(node_modules())
    compiler = node_modules() / "typescript/bin/tsc"
    # It refuses unknown fields, which a cluster would drop.
    checked = node(
        *(compiler, "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "objects.mts"),
        cwd=tmp_path,
    )
    assert (len(typed), checked.stdout, checked.returncode) == (3, "", 0)


def test_the_operators_secret_has_the_address_of_the_database() -> None:
    def from_secret(name: str, key: str) -> dict[str, Any]:
        return {"name": name, "valueFrom": {"secretKeyRef": {"name": "shortener-database-app", "key": key}}}

    expected = [
        from_secret("DATABASE_URL", "uri"),
        from_secret("DATABASE_PASSWORD", "password"),
        {
            "name": "REPORTS_DATABASE_URL",
            "value": "postgres://shortener:$(DATABASE_PASSWORD)@shortener-database-ro:5432/shortener",
        },
    ]
    synchronous = {"name": "REQUIRE_SYNCHRONOUS", "value": "yes"}
    variants = {
        "required": [*expected, synchronous],
        "preferred": expected,
    }
    for durability, variables in variants.items():
        rendered = objects(
            *CLOUDNATIVEPG, "--set=drain={3}", f"--set=cloudnativepg.dataDurability={durability}"
        )
        for name in ("StatefulSet/shortener", "Job/shortener-drain-3"):
            assert container(rendered[name])["env"] == variables
    assert "env" not in container(objects()["StatefulSet/shortener"])


def test_the_operators_spec_can_be_extended() -> None:
    more = {"backup": {"retentionPolicy": "30d"}, "postgresql": {"parameters": {"max_connections": "200"}}}
    spec = objects(*CLOUDNATIVEPG, f"--set-json=cloudnativepg.spec={json.dumps(more)}")[
        "Cluster/shortener-database"
    ]["spec"]
    assert (spec["backup"], spec["postgresql"]["parameters"]) == (
        more["backup"],
        {"max_connections": "200"},
    )
    assert spec["postgresql"]["synchronous"]["dataDurability"] == "required"


def test_prometheus_gets_the_alerts_and_finds_the_job_that_they_name() -> None:
    rendered = objects("--set=monitoring.enabled=true")
    rules, monitor = rendered["PrometheusRule/shortener"], rendered["ServiceMonitor/shortener"]
    assert rules["spec"] == yaml.safe_load((DEPLOY / "alerts.yml").read_text())
    services = [rendered["Service/shortener"], rendered["Service/shortener-replicas"]]
    for service in services:
        assert service["metadata"]["labels"] == monitor["spec"]["selector"]["matchLabels"]
        assert service["metadata"]["labels"][monitor["spec"]["jobLabel"]] == "shortener"
    (endpoint,) = monitor["spec"]["endpoints"]
    ports = [(port["name"], port["port"]) for service in services for port in service["spec"]["ports"]]
    assert [number for name, number in ports if name == endpoint["port"]] == [8001]


def test_the_chart_creates_a_secret_only_from_given_values() -> None:
    values = {"SECRET_KEY": 50 * "s", "DATABASE_URL": "postgres://shortener:p@db/shortener"}
    rendered = objects("--set=secrets.existing=", f"--set-json=secrets.values={json.dumps(values)}")
    assert rendered["Secret/shortener-secrets"]["stringData"] == values
    sources = container(rendered["StatefulSet/shortener"])["envFrom"]
    assert sources[1] == {"secretRef": {"name": "shortener-secrets"}}
    assert not [name for name in objects() if name.startswith("Secret/")]


def test_other_settings_restart_the_replicas() -> None:
    numbers = "--set=settings.STALE_SECONDS=2000000,settings.LOG_LEVEL=DEBUG"
    rendered = objects(numbers, "--set-string=settings.TRUSTED_PROXIES=10.0.0.7/32\\, fd00::7")
    assert rendered["ConfigMap/shortener"]["data"].items() >= {
        ("STALE_SECONDS", "2000000"),
        ("LOG_LEVEL", "DEBUG"),
        ("TRUSTED_PROXIES", "10.0.0.7/32, fd00::7"),
    }
    before, after = (
        document["StatefulSet/shortener"]["spec"]["template"]["metadata"]["annotations"]
        for document in (objects(), rendered)
    )
    assert before.keys() == after.keys() == {"checksum/settings"}
    assert before != after


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("replica=2", "additional properties 'replica' not allowed"),
        ("replicas=0", "minimum: got 0, want 1"),
        ("host=https://go.example.com", "does not match pattern"),
        ("image.tag=1.0 0", "does not match pattern"),
        ("settings.WEB_CONCURENCY=2", "invalid propertyName 'WEB_CONCURENCY'"),
        ("settings.FAST_LANE=false", "got boolean, want"),
        ("settings.SECRET_KEY=s", "invalid propertyName 'SECRET_KEY'"),
        ("settings.INTERNAL_LISTEN=0.0.0.0:9", "invalid propertyName 'INTERNAL_LISTEN'"),
        ("settings.CLICK_MIRROR=/mirror", "invalid propertyName 'CLICK_MIRROR'"),
        ("settings.TRUSTED_PROXIES=null", "missing property 'TRUSTED_PROXIES'"),
        ("settings.TRUSTED_PROXIES=nonsense", "does not match pattern"),
        ("settings.METRICS_ALLOWED_NETWORKS=10.0.0.0/8 and more", "does not match pattern"),
        ("secrets.existing=", "missing property 'SECRET_KEY'"),
        ("secrets.existing=,secrets.values.SECRET_KEY=short", "minLength: got 5, want 32"),
        (
            f"secrets.existing=,secrets.values.SECRET_KEY={32 * 's'}",
            "missing property 'DATABASE_URL'",
        ),
        (f"secrets.values.SECRET_KEY={32 * 's'}", "'oneOf' failed"),
        ("resources.limits=null", "missing property 'limits'"),
        ("journal.size=2", "got number, want string"),
        ("pod.containers[0].name=other", "invalid propertyName 'containers'"),
        ("drain={2}", "replica 2 still runs; set replicas to 2 or less first"),
        ("gateway.enabled=true", "minItems: got 0, want 1"),
        ("cloudnativepg.instances=1", "minimum: got 1, want 2"),
        ("cloudnativepg.spec.instances=1", "invalid propertyName 'instances'"),
        ("cloudnativepg.spec.postgresql.synchronous=null", "invalid propertyName 'synchronous'"),
        ("cloudnativepg.spec.postgresql.synchronous.number=2", "invalid propertyName 'synchronous'"),
        ("cloudnativepg.dataDurability=none", "value must be one of 'required', 'preferred'"),
    ],
)
def test_wrong_values_are_refused(option: str, message: str) -> None:
    done = helm("template", "shortener", str(CHART), f"--set={option}")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
