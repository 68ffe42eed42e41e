"""After a run: what the database has, compared with what the clients know."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from testing.failover.client import failures
from testing.failover.cluster import DATABASE, Cluster
from testing.failover.excuses import Broken, judge_losses
from testing.failover.history import register_problem, set_problems
from testing.failover.load import Load
from testing.failover.probes import Probe, two_writers
from testing.failover.registers import INITIAL
from testing.failover.writers import DESTINATION
from testing.polling import happens
from testing.proof.verdict import ADDRESS

# For the drainers to count what is in the journals.
DRAIN_SECONDS = 120


@dataclass
class Findings:
    """``lines`` are figures, ``problems`` broken promises, ``unproven`` those that nothing has tried to break."""

    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)

    def check(self, line: str, *problems: str) -> None:
        self.lines.append(line)
        self.problems += problems

    def none_of(self, number: int, what: str) -> None:
        if number:
            self.problems.append(f"{number:,} {what}")

    def some_of(self, **numbers: int) -> None:
        """Without any of these, a line of zeros proves nothing."""
        self.unproven += [f"no {what.replace('_', ' ')}" for what, number in numbers.items() if not number]


def wait_for_counting(cluster: Cluster) -> bool:
    """Whether all clicks of the journals are counted in time."""

    def is_counted(name: str) -> bool:
        # The metrics of the journal need the database.
        with suppress(LookupError):
            return metric(cluster, name, "shortener_journal_backlog_bytes") == 0
        return False

    return happens(lambda: all(map(is_counted, ("app1", "app2"))), within=DRAIN_SECONDS, every=0.5)


def judge(cluster: Cluster, load: Load, probes: list[Probe], steps: list[Broken]) -> Findings:
    """Call it when all workers have stopped and the cluster is healthy. ``steps``: all that may excuse anything."""
    findings = Findings()
    if not wait_for_counting(cluster):
        findings.problems.append("the journals are not drained")
    _creations(cluster, load, findings)
    _clicks(cluster, load, steps, findings)
    _edits(cluster, load, findings)
    _people(cluster, load, findings)
    _histories(load, findings)
    _servers(cluster, probes, findings)
    _audits(cluster, findings)
    findings.problems += [f"{number} responses to {request} were 500" for request, number in failures.items()]
    findings.problems += load.problems.lines
    return findings


def metric(cluster: Cluster, host: str, name: str) -> float:
    """The sum of all samples of this name. Raises LookupError without any, and while the host has no metrics."""
    [service] = [service for service in cluster.services if service.name == host]
    status, text = service.internal("/metrics")
    samples = (
        [sample for family in text_string_to_metric_families(text) for sample in family.samples]
        if status == 200
        else []
    )
    values = [sample.value for sample in samples if sample.name == name]
    if not values:
        raise LookupError(f"{host} has no {name}")
    return sum(values)


def reported_losses(cluster: Cluster) -> dict[str, int]:
    """The clicks that each service host says it has lost. Raises TimeoutError if one does not."""
    found: dict[str, int] = {}

    def is_read(name: str) -> bool:
        with suppress(LookupError):
            found[name] = round(metric(cluster, name, "shortener_clicks_dropped_total"))
        return name in found

    for service in cluster.services:
        if not happens(partial(is_read, service.name), within=DRAIN_SECONDS, every=0.5):
            raise TimeoutError(f"{service.name} does not say how many clicks it has lost.")
    return found


def _rows(cluster: Cluster, query: str) -> list[tuple[Any, ...]]:
    with cluster.leader().superuser(DATABASE) as connection:
        return connection.execute(query).fetchall()


def _creations(cluster: Cluster, load: Load, findings: Findings) -> None:
    stored = _rows(cluster, "SELECT title, short_code FROM links_link WHERE title LIKE 'creator-%'")
    by_title = Counter(title for title, _ in stored)
    codes = dict(stored)
    creations = load.creations
    missing = sum(codes.get(title) != code for title, code in creations.codes.items())
    findings.check(
        f"creations: {len(creations.codes):,} acknowledged, {missing} missing,"
        f" {sum(number > 1 for number in by_title.values())} twice, {creations.repeats:,} requests repeated"
    )
    findings.some_of(acknowledged_creation=len(creations.codes))
    findings.none_of(missing, "acknowledged creations are missing")
    findings.none_of(sum(number > 1 for number in by_title.values()), "links were created twice")
    findings.none_of(len(by_title.keys() - creations.titles), "links were never asked for")


def _clicks(cluster: Cluster, load: Load, steps: list[Broken], findings: Findings) -> None:
    log, codes = load.clicks.log, load.clicks.codes
    rows = _rows(
        cluster,
        f"SELECT short_code, substring(referrer FROM {len(ADDRESS) + 1}), kind FROM analytics_click"
        f" JOIN links_link ON links_link.id = link_id WHERE starts_with(referrer, '{ADDRESS}')",
    )
    counted = Counter(identity for _, identity, kind in rows if kind == 0)
    by_code = Counter(code for code, _, kind in rows if kind == 0)
    lost = [load.clicks.moments[identity] for identity in log.redirected - counted.keys()]
    losses = judge_losses(lost, steps)
    twice = sum(number - 1 for number in counted.values())
    exceeded = [code for code, cap in load.links.caps.items() if by_code[code] > cap]
    exceeded += [code for code, cap in load.links.caps.items() if load.clicks.redirects[code] > cap]
    reached = sum(by_code[code] == cap for code, cap in load.links.caps.items())
    wrong = sum(codes[identity] != code for code, identity, kind in rows if kind == 0)
    counters = dict(
        _rows(
            cluster,
            "SELECT short_code, clicks FROM links_clickcounter JOIN links_link ON links_link.id = link_id",
        )
    )
    all_counted = dict(
        _rows(
            cluster,
            "SELECT short_code, count(*) FROM analytics_rawclick JOIN links_link ON links_link.id = link_id"
            " WHERE kind = 0 GROUP BY 1",
        )
    )
    findings.check(
        f"clicks: {len(log.redirected):,} redirected, {counted.total():,} counted, {losses.unexcused} lost,"
        f" {twice} twice, {len(load.links.caps):,} caps, {reached} reached, {len(exceeded)} exceeded"
    )
    findings.lines.append(
        f"clicks lost with both the journal's disk full and the database dead: {losses.excused}, of"
        f" {losses.reported} reported{''.join(f'; {step}' for step in losses.steps)}"
    )
    findings.some_of(
        redirected_click=len(log.redirected), reached_cap=reached, visit_refused_at_a_cap=len(log.refused)
    )
    findings.none_of(losses.unexcused, "answered clicks are lost")
    findings.none_of(losses.unexcused_reports, "clicks are reported as lost, which no fault excuses")
    findings.none_of(twice, "clicks were counted twice")
    findings.none_of(len(exceeded), "caps were exceeded")
    findings.none_of(wrong, "clicks were counted on another link")
    findings.none_of(len(counted.keys() & log.refused), "refused visits were counted")
    findings.none_of(differing_counters(counters, all_counted), "counters differ from the number of clicks")


def differing_counters(counters: dict[str, int], clicks: dict[str, int]) -> int:
    """How many links have another counter than clicks. Both are by short code."""
    return sum(counters.get(code, 0) != clicks.get(code, 0) for code in counters.keys() | clicks.keys())


def _edits(cluster: Cluster, load: Load, findings: Findings) -> None:
    targets = dict(
        _rows(cluster, "SELECT short_code, target_url FROM links_link WHERE title LIKE 'edited-%'")
    )
    lost = 0
    for link in load.edited:
        target = targets[link.code]
        number = int(target.rpartition("/")[2]) if target and target != DESTINATION else 0
        lost += not link.may_end_at(number)
    edits = sum(len(link.acknowledged) for link in load.edited)
    findings.check(
        f"edits: {edits:,} acknowledged, on {len(load.edited)} links; {lost} links end at an older one"
    )
    findings.some_of(acknowledged_edit=edits)
    findings.none_of(lost, "links end at an older edit than the last acknowledged one")


def _people(cluster: Cluster, load: Load, findings: Findings) -> None:
    keys, team = load.keys, load.team
    findings.check(
        f"keys: {keys.rotations:,} rotations, {keys.refusals:,} calls with revoked keys refused;"
        f" team: {team.changes:,} changes"
    )
    findings.some_of(refused_call_with_a_revoked_key=keys.refusals, change_of_the_team=team.changes)
    for service in cluster.services:
        status = service.client(30).call("GET", "/api/urls/stats", X_API_Key=keys.current).status
        if keys.is_settled and status != 200:
            findings.problems.append(f"the last acknowledged key gets {status} on {service.name}")
    [(name, role)] = _rows(
        cluster,
        "SELECT workspace.name, member.role FROM accounts_workspace workspace"
        " JOIN accounts_member member ON member.workspace_id = workspace.id"
        f" JOIN accounts_user person ON person.id = member.user_id AND person.email = '{load.member.email}'"
        f" WHERE workspace.public_id = '{team.identifier}'",
    )
    if team.name not in {None, name} or team.role not in {None, role}:
        findings.problems.append(f"the workspace is {name}, {role} and not {team.name}, {team.role}")


def _histories(load: Load, findings: Findings) -> None:
    operations = [operation for register in load.registers.all for operation in register.history]
    unknown = sum(operation.ended == float("inf") for operation in operations)
    verdicts = [(register, register_problem(INITIAL, register.history)) for register in load.registers.all]
    wrong = [
        f"the title of a link is no linearizable register: {problem}" for _, problem in verdicts if problem
    ]
    creations = load.creations
    sets = [
        problem
        for tag, additions in creations.additions.items()
        for problem in set_problems(additions, creations.listings[tag])
    ]
    listings = sum(map(len, creations.listings.values()))
    findings.some_of(operation_on_a_register=len(operations), listing=listings)
    findings.check(
        f"histories: {len(operations):,} operations on {len(verdicts)} registers, {unknown} of unknown outcome,"
        f" {len(wrong)} not linearizable; {len(creations.additions)} sets in {listings:,} listings, {len(sets)} wrong",
        *wrong,
        *sets[:20],
    )


def _servers(cluster: Cluster, probes: list[Probe], findings: Findings) -> None:
    writes = [write for probe in probes for write in list(probe.writes)]
    stored = set(cluster.leader().rows("SELECT node, number FROM probe"))
    missing = sum((write.node, write.number) not in stored for write in writes)
    twins = two_writers(writes)
    findings.check(
        f"servers: {len(writes):,} acknowledged writes to them, {missing} missing,"
        f" {sum(probe.local_only for probe in probes)} with a warning that no standby has them,"
        f" {len({write.timeline for write in writes})} timelines, {len(twins)} writes on a second primary,"
        f" {sum(member.watchdog.resets for member in cluster.members)} resets by watchdogs",
        *twins[:20],
    )
    findings.some_of(write_to_the_servers=len(writes))
    findings.none_of(missing, "writes that PostgreSQL had acknowledged are missing in it")


def _audits(cluster: Cluster, findings: Findings) -> None:
    for service in cluster.services:
        done = service.manage("audit_counters")
        output = "".join(
            line for line in done.stdout.splitlines(keepends=True) if not line.startswith("segment ")
        )
        findings.lines.append(f"audit_counters on {service.name}: {output.strip() or done.stderr[-500:]}")
        if output != "0 differences.\n":
            findings.problems.append(f"{service.name}: {done.stdout}{done.stderr[-2000:]}")
        for name in ("shortener_journal_lost_bytes", "shortener_journal_damaged_segments"):
            try:
                value = metric(cluster, service.name, name)
            except LookupError as error:
                findings.problems.append(str(error))
                continue
            if value:
                findings.problems.append(f"{service.name}: {name} is {value:.0f}")
