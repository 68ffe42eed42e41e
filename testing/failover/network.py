"""Hosts as network namespaces on one bridge, and the faults of their links.

The rules of a host are in its own namespace. This process has an address on the bridge, too, and can be cut off like
any other peer.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

_NAMESPACES = Path("/run/netns")
_PREFIX = "10.77.0"
CLIENTS = f"{_PREFIX}.1"


def run(*command: str | Path, text: str | None = None) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr or done.stdout}")
    return done.stdout


class Host:
    """``rules`` are the present ones, each a line of nftables with its chain."""

    def __init__(self, name: str, number: int) -> None:
        self.name, self.address = name, f"{_PREFIX}.{number}"
        self._rules: list[str] = []
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"v-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", f"v-{name}", "master", "lab", "up")
        self.inside("ip", "link", "set", "lo", "up")
        self.inside("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.inside("ip", "link", "set", "eth0", "up")

    def command(self, *words: str | Path) -> list[str]:
        """The command line that runs this command on the host."""
        return ["nsenter", f"--net={_NAMESPACES / self.name}", "--", *map(str, words)]

    def inside(self, *words: str | Path, text: str | None = None) -> str:
        return run(*self.command(*words), text=text)

    def pids(self) -> list[int]:
        return [int(word) for word in run("ip", "netns", "pids", self.name).split()]

    def cut(self, peers: Iterable[str], directions: Sequence[str] = ("in", "out")) -> None:
        """Drop all packets from and to these addresses."""
        addresses = ", ".join(peers)
        if "in" in directions:
            self._rules.append(f"add rule inet lab input ip saddr {{ {addresses} }} drop")
        if "out" in directions:
            self._rules.append(f"add rule inet lab output ip daddr {{ {addresses} }} drop")
        self._apply()

    def lose(self, percent: int) -> None:
        """Drop that many of a hundred packets in each direction, whoever the peer is."""
        for chain in ("input", "output"):
            self._rules.append(
                f"add rule inet lab {chain} meta iifname != lo numgen random mod 100 < {percent} drop"
            )
        self._apply()

    def slow(self) -> None:
        """Send at most 400 kbit a second, with up to 400 ms of waiting for each packet."""
        limit = ["rate", "400kbit", "burst", "4kb", "latency", "400ms"]
        self.inside("tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", *limit)

    def heal(self) -> None:
        self._rules.clear()
        self._apply()
        subprocess.run(
            self.command("tc", "qdisc", "del", "dev", "eth0", "root"), capture_output=True, check=False
        )

    def _apply(self) -> None:
        chains = [
            f"add chain inet lab {name} {{ type filter hook {name} priority 0; }}"
            for name in ("input", "output")
        ]
        table = ["add table inet lab", "delete table inet lab", "add table inet lab", *chains, *self._rules]
        self.inside("nft", "-f", "-", text="\n".join(table) + "\n")


def make_hosts(*names: str) -> list[Host]:
    """Call it once, in namespaces of this run."""
    _NAMESPACES.mkdir(exist_ok=True)
    run("mount", "-t", "tmpfs", "namespaces", _NAMESPACES)
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "lab", "type", "bridge")
    run("ip", "address", "add", f"{CLIENTS}/24", "dev", "lab")
    run("ip", "link", "set", "lab", "up")
    return [Host(name, number) for number, name in enumerate(names, start=11)]
