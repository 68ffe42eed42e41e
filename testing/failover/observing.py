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
from urllib.request import urlopen

from testing.failover.cluster import Cluster
from testing.failover.network import CLIENTS, Host
from testing.failover.service import INTERNAL_PORT, ServiceHost
from testing.failover.units import Unit

REPOSITORY = Path(__file__).parents[2]
PERIOD_SECONDS = 1.0
# Bytes of a journal that waits for longer than the drainer ever takes.
NOTABLE_BACKLOG = 100_000
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
# Metrics that a fault moves, with the values that need no mention.
_METRICS = {
    "shortener_database_up": 1,
    "shortener_database_writable": 1,
    "shortener_database_former_primary": 0,
    "shortener_database_gone_back": 0,
    "shortener_journal_writable": 1,
    "shortener_journal_lost_bytes": 0,
}
_SAMPLE = re.compile(r"^(shortener_\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
_LOGGED = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b[: ]+(.*)")


@dataclass
class Seen:
    """What was seen of one fault, of either host."""

    readiness: Counter[str] = field(default_factory=Counter)
    metrics: set[str] = field(default_factory=set)
    backlog: float = 0
    alerts: set[str] = field(default_factory=set)
    log: Counter[str] = field(default_factory=Counter)

    def add(self, other: Seen) -> None:
        self.readiness.update(other.readiness)
        self.log.update(other.log)
        self.metrics |= other.metrics
        self.alerts |= other.alerts
        self.backlog = max(self.backlog, other.backlog)


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
            self._seen.alerts |= self._alerts() - self._known_alerts
            time.sleep(PERIOD_SECONDS)

    def _watch(self, service: ServiceHost) -> None:
        samples = self._samples[service.name]
        while True:
            began, seen = time.monotonic(), self._seen
            readiness = _readiness(*service.internal("/readyz"))
            samples.append((began, time.monotonic(), readiness))
            seen.readiness[readiness] += 1
            self._read_metrics(seen, service.internal("/metrics")[1])
            time.sleep(max(0.0, began + PERIOD_SECONDS - time.monotonic()))

    def begin(self) -> None:
        """Forget what was seen so far, and the alerts that are active for another reason."""
        self._read_logs()
        self._known_alerts = self._alerts()
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

    def _read_metrics(self, seen: Seen, text: str) -> None:
        for name, value in _SAMPLE.findall(text):
            if name == "shortener_journal_backlog_bytes":
                seen.backlog = max(seen.backlog, float(value))
            elif name in _METRICS and float(value) != _METRICS[name]:
                seen.metrics.add(f"{name.removeprefix('shortener_')} {float(value):g}")

    def _alerts(self) -> set[str]:
        """The names of alerts that fire, or would once their time is over."""
        if self._prometheus is None:
            return set()
        with (
            suppress(OSError, ValueError),
            urlopen(f"http://{CLIENTS}:{_PROMETHEUS_PORT}/api/v1/alerts") as answer,
        ):
            return {alert["labels"]["alertname"] for alert in json.load(answer)["data"]["alerts"]}
        return set()

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
)


def table(rows: Iterable[tuple[str, str, Seen]]) -> str:
    """A table in Markdown: the faults, their longest pauses, and what an operator sees of each of them."""
    lines = [
        "| fault | writes / reports / redirects paused | `/readyz` | metrics | alerts, also pending ones | log |",
        "|---|---|---|---|---|---|",
    ]
    for title, pauses, seen in rows:
        readiness = [words for words, _ in seen.readiness.most_common() if words != "200"]
        metrics = sorted(seen.metrics)
        if seen.backlog > NOTABLE_BACKLOG:
            metrics.append(f"journal_backlog_bytes {seen.backlog:,.0f}")
        alerts = sorted(alert.removeprefix("Shortener") for alert in seen.alerts)
        log = [text.partition(": ")[2][:90] for text, _ in seen.log.most_common() if not _PLAIN.search(text)]
        cells = (
            title,
            pauses,
            "; ".join(readiness[:2]) or "200",
            ", ".join(metrics) or "as ever",
            ", ".join(alerts) or "none",
            "; ".join(log[:2]) or "nothing else",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)
