"""The settings of the service with another environment, read in a separate process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testing.polling import DEADLINE

_PROJECT = Path(__file__).resolve().parents[1]
_PROGRAM = """
import json, sys
from django.conf import settings
json.dump({name: getattr(settings, name) for name in sys.argv[1:]}, sys.stdout)
"""


def settings_with(environment: Mapping[str, str], *names: str) -> dict[str, Any]:
    """The values of these settings. They must have a form in JSON."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *names],
        cwd=_PROJECT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "shortener_project.settings", **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE,
    )
    values: dict[str, Any] = json.loads(done.stdout)
    return values
