"""The city database that the service and its forked processes load."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from analytics.visitors.geo import Location, attribution, geo
from tests.analytics.mmdb import write_mmdb

PROJECT = Path(__file__).resolve().parents[3]
PARIS = {"8.8.8.0/24": {"country_code": "FR", "city": "Paris"}}
BERLIN = {"8.8.8.0/24": {"country_code": "DE", "city": "Berlin"}}
DB_IP = {"text": "IP Geolocation by DB-IP", "url": "https://db-ip.com"}


@pytest.fixture(autouse=True)
def fetched(settings: LazySettings, tmp_path: Path) -> Iterator[Path]:
    settings.GEOIP_DATABASE = []
    settings.GEODATA_FILE = tmp_path / "city.mmdb"
    geo.cache_clear()
    yield settings.GEODATA_FILE
    geo.cache_clear()


def test_downloaded_file_is_the_default(fetched: Path) -> None:
    write_mmdb(fetched, PARIS, ip_version=4, database_type="DBIP-City-Lite")

    assert geo().locate("8.8.8.8") == Location("FR", "Paris")
    assert attribution() == DB_IP


def test_configured_file_replaces_the_downloaded_one(
    fetched: Path, tmp_path: Path, settings: LazySettings
) -> None:
    write_mmdb(fetched, PARIS, ip_version=4, database_type="DBIP-City-Lite")
    settings.GEOIP_DATABASE = [write_mmdb(tmp_path / "other.mmdb", BERLIN, ip_version=4)]

    assert geo().locate("8.8.8.8") == Location("DE", "Berlin")
    assert attribution() is None


def test_missing_download_logs_no_warning(
    fetched: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 1000.0
    monkeypatch.setattr("analytics.visitors.geo.monotonic", lambda: now)
    assert geo().locate("8.8.8.8") == Location("US", None)
    assert attribution() is None

    write_mmdb(fetched, PARIS, ip_version=4)
    now += 1.1
    assert geo().locate("8.8.8.8") == Location("FR", "Paris")
    assert caplog.records == []


FORKED_WHILE_FILES_ARE_LOOKED_AT = """
import os, sys, threading
import django
django.setup()
from analytics.visitors.geo import geo

database = geo()
print(*database.locate("8.8.8.8"), flush=True)
looking, forked = threading.Event(), threading.Event()
def look():
    looking.set()
    forked.wait()
database._files[0].refresh = look
database._next_check = 0.0
threading.Thread(target=database.locate, args=("8.8.8.8",)).start()
looking.wait()
os.replace(sys.argv[1], sys.argv[2])
child = os.fork()
if not child:
    print(*geo().locate("8.8.8.8"), flush=True)
    os._exit(0)
forked.set()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_process_forked_during_a_file_check_loads_new_files(tmp_path: Path) -> None:
    file = write_mmdb(tmp_path / "city.mmdb", PARIS, ip_version=4)
    newer = write_mmdb(tmp_path / "newer.mmdb", BERLIN, ip_version=4)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED_WHILE_FILES_ARE_LOOKED_AT, str(newer), str(file)],
        cwd=PROJECT,
        env={
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "GEOIP_DATABASE": str(file),
            "VAR_DIR": str(tmp_path / "var"),
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "FR Paris None\nDE Berlin None\n", "")
