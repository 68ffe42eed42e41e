"""python -m testing.chart: write what derives from deploy/chart and from the table of environment variables.

These are the names that the chart's schema accepts, and the plain manifests, which are the chart rendered by Helm.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from shortener_project.configuration.variables import GROUPS
from testing.programs import PATH, program

DEPLOY = Path(__file__).parents[1] / "deploy"
CHART = DEPLOY / "chart"
SCHEMA = CHART / "values.schema.json"
# Set by the image, or by the chart from other values. The mirror would need a volume, which the chart does not have.
FIXED = {
    *("BASE_URL", "CLICK_MIRROR", "HOST", "INTERNAL_LISTEN", "PORT", "PROMETHEUS_MULTIPROC_DIR"),
    *("VAR_DIR", "VENV"),
}
_NETWORK = r"(\d{1,3}(\.\d{1,3}){3}(/\d{1,2})?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/\d{1,3})?)"
NETWORKS = rf"^\s*({_NETWORK}(\s*,\s*{_NETWORK})*)?\s*$"
SECRETS = {
    "DATABASE_URL",
    "EMAIL_URL",
    "OIDC_CLIENT_SECRET",
    "REPORTS_DATABASE_URL",
    "SECRET_KEY",
    "SECRET_KEY_FALLBACKS",
}
# Each with the options for Helm and its heading.
MANIFESTS = {
    "kubernetes.yaml": (
        (),
        """\
# Rendered from deploy/chart by `make docs`: three replicas on a PostgreSQL that you provide. docs/deployment.md
# describes the installation, docs/adr/0004 why this is a StatefulSet. Create the Secret by hand: it must not be
# in a repository:
#
#   kubectl create namespace shortener
#   kubectl --namespace shortener create secret generic shortener \\
#     --from-literal=DATABASE_URL=postgres://... --from-literal=SECRET_KEY=...
""",
    ),
    "kubernetes-drain.yaml": (
        ("--set=replicas=2,drain={2}", "--show-only=templates/drain.yaml"),
        """\
# Rendered from deploy/chart by `make docs`: after scaling from three to two, counts the clicks of shortener-2.
# Afterwards: `kubectl --namespace shortener delete job/shortener-drain-2 pvc/journal-shortener-2`.
""",
    ),
}


def helm(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program("helm"), *command], capture_output=True, text=True, check=False)


def render(*options: str) -> str:
    """The manifests of the release "shortener" in the namespace of the same name."""
    done = helm("template", "shortener", str(CHART), "--namespace=shortener", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def manifest(name: str) -> str:
    options, heading = MANIFESTS[name]
    return heading + render(*options)


def schema() -> str:
    content: dict[str, Any] = json.loads(SCHEMA.read_text())
    variables = [variable for group in GROUPS for variable in group.variables]
    names = {variable.name for variable in variables}
    values = content["properties"]
    values["settings"]["propertyNames"]["enum"] = sorted(names - FIXED - SECRETS)
    values["settings"]["properties"] = {
        variable.name: {"type": "string", "pattern": NETWORKS}
        for variable in variables
        if variable.values == "networks, comma-separated"
    }
    values["secrets"]["properties"]["values"]["propertyNames"]["enum"] = sorted(names & SECRETS)
    return json.dumps(content, indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema())
    if shutil.which("helm", path=PATH) is None:
        sys.stderr.write("Without Helm, the plain manifests stay as they are.\n")
    else:
        for file in MANIFESTS:
            (DEPLOY / file).write_text(manifest(file))
