"""What an operator sees of a fault: /readyz, metrics, alerts and log lines of the service hosts."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

from testing.failover.cluster import Cluster
from testing.failover.network import CLIENTS, Host
from testing.failover.service import INTERNAL_PORT, ServiceHost
from testing.failover.units import Unit

REPOSITORY = Path(__file__).parents[2]
PERIOD_SECONDS = 1.0
_PROMETHEUS_PORT = 9090
_CONFIGURATION = """
global: {{ scrape_interval: 5s, scrape_timeout: 5s, evaluation_interval: 1s }}
rule_files: [{rules}]
scrape_configs:
  - job_name: shortener
    static_configs: [{{ targets: [{services}] }}]
  - job_name: patroni
    static_configs: [{{ targets: [{patroni}] }}]
  - job_name: etcd
    static_configs: [{{ targets: [{etcd}] }}]
"""
# Metrics that a fault moves, with the lowest and the highest value that needs no mention.
_METRICS = {
    "shortener_database_up": (1, 1),
    "shortener_database_writable": (1, 1),
    "shortener_database_replicated": (1, 1),
    "shortener_database_former_primary": (0, 0),
    "shortener_database_gone_back": (0, 0),
    "shortener_changes_unheard_seconds": (0, 5),
    "shortener_clock_ahead_seconds": (-5, 5),
    "shortener_journal_writable": (1, 1),
    "shortener_journal_lost_bytes": (0, 0),
    # More waits for longer than the drainer ever takes.
    "shortener_journal_backlog_bytes": (0, 100_000),
}
_COUNTERS = {"shortener_clicks_to_database_total", "shortener_clicks_dropped_total"}
_SAMPLE = re.compile(r"^(shortener_\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
_LOGGED = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b[: ]+(.*)")


@dataclass
class Seen:
    """What was seen of one fault, of either host. ``metrics``: the value farthest from the usual ones."""

    readiness: Counter[str] = field(default_factory=Counter)
    metrics: dict[str, float] = field(default_factory=dict)
    firing: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    log: Counter[str] = field(default_factory=Counter)

    def add(self, other: Seen) -> None:
        self.readiness.update(other.readiness)
        self.log.update(other.log)
        self.firing |= other.firing
        self.pending |= other.pending
        for name, value in other.metrics.items():
            self.note(name, value)

    def note(self, name: str, value: float) -> None:
        self.metrics[name] = max(self.metrics.get(name, value), value, key=abs)


class Observer(threading.Thread):
    """Looks at the hosts every second, and at a Prometheus with the project's alert rules if there is one."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(name="observer", daemon=True)
        self._cluster = cluster
        self._seen = Seen()
        # Of each host: the moments before and after each look at /readyz, and what it said.
        self._samples: dict[str, list[tuple[float, float, str]]] = {
            service.name: [] for service in cluster.services
        }
        self._known_alerts: set[str] = set()
        self._counted: dict[tuple[str, str], float] = {}
        self._offsets: dict[str, int] = {}
        self._prometheus = _prometheus(cluster)
        if self._prometheus is not None:
            cluster.keeper.units.append(self._prometheus)
            self._prometheus.start()

    def run(self) -> None:
        for service in self._cluster.services:
            threading.Thread(
                target=self._watch, args=(service,), name=f"watch-{service.name}", daemon=True
            ).start()
        while True:
            seen, known = self._seen, self._known_alerts
            if (alerts := self._alerts()) is not None:
                # One that has ended may return for a reason of its own.
                known.intersection_update(alerts)
                seen.firing |= {name for name, state in alerts.items() if state == "firing"} - known
                seen.pending |= {name for name, state in alerts.items() if state == "pending"} - known
            time.sleep(PERIOD_SECONDS)

    def _watch(self, service: ServiceHost) -> None:
        samples = self._samples[service.name]
        while True:
            began, seen = time.monotonic(), self._seen
            readiness = _readiness(*service.internal("/readyz"))
            samples.append((began, time.monotonic(), readiness))
            seen.readiness[readiness] += 1
            self._read_metrics(seen, service)
            time.sleep(max(0.0, began + PERIOD_SECONDS - time.monotonic()))

    def begin(self) -> None:
        """Forget what was seen so far, and the alerts that are active for another reason."""
        self._read_logs()
        self._known_alerts = {*(self._alerts() or {})}
        self._seen = Seen()

    def end(self) -> Seen:
        seen = self._seen
        seen.log = self._read_logs()
        return seen

    def readiness_of(self, host: str, moment: float) -> str:
        """What else than 200 /readyz of the host said within two seconds, or last before it, or first after it."""
        samples = list(self._samples[host])
        said = {words for began, ended, words in samples if began - 2 < moment < ended + 2}
        said |= {*[words for _, ended, words in samples if ended <= moment][-1:]}
        said |= {*[words for began, _, words in samples if began >= moment][:1]}
        return "; ".join(sorted(said - {"200"})) or "200"

    def _read_metrics(self, seen: Seen, service: ServiceHost) -> None:
        status, text = service.internal("/metrics")
        if status != 200:
            seen.note("up", 0)
            return
        for name, value in _SAMPLE.findall(text):
            number, short = float(value), name.removeprefix("shortener_")
            if name in _METRICS:
                lowest, highest = _METRICS[name]
                if not lowest <= number <= highest:
                    seen.note(short, number)
            elif name in _COUNTERS:
                grown = number - self._counted.get((service.name, name), number)
                self._counted[service.name, name] = number
                if grown > 0:
                    seen.metrics[short] = seen.metrics.get(short, 0) + grown

    def _alerts(self) -> dict[str, str] | None:
        """Alerts that fire, or are pending until they have lasted as long as their rule says. None if unknown."""
        if self._prometheus is None:
            return None
        with (
            suppress(OSError, ValueError),
            urlopen(f"http://{CLIENTS}:{_PROMETHEUS_PORT}/api/v1/alerts") as answer,
        ):
            alerts = json.load(answer)["data"]["alerts"]
            # A rule has an alert for each host: "firing" comes before "pending".
            return {
                alert["labels"]["alertname"]: alert["state"]
                for alert in sorted(alerts, key=lambda alert: str(alert["state"]), reverse=True)
            }
        return None

    def _read_logs(self) -> Counter[str]:
        """New warnings and errors, without what differs from line to line."""
        lines: Counter[str] = Counter()
        for service in self._cluster.services:
            with service.unit.log.open("rb") as file:
                file.seek(self._offsets.get(service.name, 0))
                text = file.read().decode(errors="replace")
                self._offsets[service.name] = file.tell()
            for _, message in _LOGGED.findall(text):
                lines[re.sub(r"\d[\d.:/-]*|[0-9a-f]{8}-[0-9a-f-]+", "…", message)[:140]] += 1
        return lines


def _readiness(status: int, body: str) -> str:
    if status == 200:
        return "200"
    try:
        parts = json.loads(body)
    except ValueError:
        return f"{status or 'no response'}"
    amiss = {name: re.sub(r"\d[\d.:]*", "…", text) for name, text in parts.items() if name != "status"}
    return f"{status} " + ", ".join(
        f"{name}: {text.partition(': ')[0]}"
        for name, text in amiss.items()
        if text not in {"ok", "unknown without the database"}
    )


def _prometheus(cluster: Cluster) -> Unit | None:
    program = shutil.which("prometheus")
    if program is None:
        return None
    folder = cluster.folder / "prometheus"
    folder.mkdir()
    targets = {
        "services": [f"{service.host.address}:{INTERNAL_PORT}" for service in cluster.services],
        "patroni": [f"{member.host.address}:8008" for member in cluster.members],
        "etcd": [f"{member.host.address}:2379" for member in cluster.members],
    }
    lists = {name: ", ".join(f'"{one}"' for one in addresses) for name, addresses in targets.items()}
    (folder / "prometheus.yml").write_text(
        _CONFIGURATION.format(rules=REPOSITORY / "deploy/alerts.yml", **lists)
    )
    command = [
        program,
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={CLIENTS}:{_PROMETHEUS_PORT}",
    ]
    return Unit("prometheus", Here(), command, folder, environment={})


class Here(Host):
    """The network of this process, as a host."""

    def __init__(self) -> None:
        """No host is made."""

    def command(self, *words: str | Path) -> list[str]:
        return [*map(str, words)]


# Log lines that tell an operator no more than the metrics do.
_PLAIN = re.compile(
    r"Service Unavailable|waiting for the database|until the database is available|limit of open files"
    r"|claims was rejected|claims is unknown|not in the log of requests|Metrics left out"
)
_PARTS = re.compile(r"(?<!\w)(\w+): ")
# Of a fault, what was seen only once may have another reason.
_SEEN_OFTEN = 2
_END_OF_WORDS = re.compile(r"[:;.(…]")


class Row(NamedTuple):
    """``pauses``: seconds for which writes, reports and redirects paused."""

    titles: list[str]
    pauses: tuple[int, ...]
    seen: Seen


def table(rows: Iterable[Row]) -> str:
    """A table in Markdown: the faults, their longest pauses, and what an operator sees of each of them.

    Faults that look alike in /readyz and the metrics share a row, whether or not a host was silent at times.
    """
    groups: dict[frozenset[str], Row] = {}
    for row in rows:
        alike = frozenset({*_parts(row.seen), *row.seen.metrics} - {"none", "up"})
        if (group := groups.get(alike)) is None:
            groups[alike] = row
            continue
        group.seen.add(row.seen)
        groups[alike] = Row(group.titles + row.titles, tuple(map(max, group.pauses, row.pauses)), group.seen)
    lines = [
        "| fault | writes/reports/redirects paused (s) | `/readyz` | metrics | alerts (pending) | log |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join(lines + [_line(row) for row in groups.values()])


def _parts(seen: Seen) -> list[str]:
    """The parts of /readyz that were amiss; 200 without any."""
    parts: Counter[str] = Counter()
    for words, times in seen.readiness.items():
        if words != "200":
            parts.update(dict.fromkeys(_PARTS.findall(words) or ["none"], times))
    return sorted(part for part, times in parts.items() if times >= _SEEN_OFTEN) or ["200"]


def _line(row: Row) -> str:
    seen = row.seen
    pending = ", ".join(map(_short, sorted(seen.pending - seen.firing)))
    alerts = [*map(_short, sorted(seen.firing)), *([f"({pending})"] if pending else [])]
    messages = Counter[str]()
    for line, times in seen.log.items():
        if not _PLAIN.search(line):
            words = _END_OF_WORDS.split(line.partition(": ")[2])[0]
            messages[words.strip()] += times
    cells = (
        ", ".join(row.titles),
        "/".join(map(str, row.pauses)),
        ", ".join(_parts(seen)),
        ", ".join(f"`{name}={value:.0f}`" for name, value in sorted(seen.metrics.items())),
        ", ".join(alerts),
        "; ".join(f"`{message}`" for message, _ in messages.most_common(2)),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _short(alert: str) -> str:
    return alert.removeprefix("Shortener")
