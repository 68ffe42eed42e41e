"""Declaring environment variables: one entry holds the name, type, default and meaning of a variable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any, Generic, TypeVar

from shortener_project.configuration import env
from shortener_project.configuration.env import (
    BaseUrl,
    MailServer,
    parse_base_url,
    parse_brand_color,
    parse_brand_logo,
    parse_brand_name,
    parse_mail_url,
)

Value = TypeVar("Value")


@dataclass(frozen=True)
class Variable(Generic[Value]):
    """``read`` parses the current value. It raises ImproperlyConfigured, with a one-line message."""

    name: str
    values: str
    default: str
    meaning: str
    read: Callable[[], Value]


@dataclass(frozen=True)
class Group:
    """Variables about one subject. Each method declares one; on the page, ``shown`` replaces a computed default."""

    title: str
    variables: list[Variable[Any]] = field(default_factory=list)

    def text(
        self,
        name: str,
        default: str | Callable[[], str],
        meaning: str,
        *,
        values: str = "text",
        shown: str | None = None,
    ) -> Variable[str]:
        def read() -> str:
            return env.text(name) or (default if isinstance(default, str) else default())

        if shown is None:
            shown = default if isinstance(default, str) else ""
        return self._add(Variable(name, values, shown, meaning, read))

    def folder(self, name: str, default: str, meaning: str) -> Variable[Path]:
        return self._add(
            Variable(name, "path", default, meaning, lambda: Path(env.text(name, default)).resolve())
        )

    def optional_folder(self, name: str, meaning: str) -> Variable[Path | None]:
        def read() -> Path | None:
            return Path(path).resolve() if (path := env.text(name)) else None

        return self._add(Variable(name, "path", "none", meaning, read))

    def base_url(
        self, name: str, default: Callable[[], str], meaning: str, *, shown: str
    ) -> Variable[BaseUrl]:
        values = "http or https URL without a path"
        return self._add(
            Variable(name, values, shown, meaning, lambda: parse_base_url(env.text(name) or default()))
        )

    def contact(self, name: str, meaning: str) -> Variable[str]:
        values = "e-mail address, or https, mailto or tel URI"
        return self._add(Variable(name, values, "none", meaning, lambda: env.contact(name)))

    def mail_server(self, name: str, meaning: str) -> Variable[MailServer]:
        values = "smtp, smtps or console URL"
        return self._add(Variable(name, values, "none", meaning, lambda: parse_mail_url(env.text(name))))

    def brand_name(self, name: str, meaning: str, *, values: str) -> Variable[str]:
        return self._add(Variable(name, values, "none", meaning, lambda: parse_brand_name(env.text(name))))

    def logo(self, name: str, meaning: str, *, values: str) -> Variable[bytes | None]:
        return self._add(Variable(name, values, "none", meaning, lambda: parse_brand_logo(env.text(name))))

    def color(self, name: str, meaning: str) -> Variable[str]:
        values = "hex colour such as `#1A2B3C`"
        return self._add(Variable(name, values, "none", meaning, lambda: parse_brand_color(env.text(name))))

    def integer(
        self,
        name: str,
        default: int | Callable[[], int],
        meaning: str,
        *,
        minimum: int = 0,
        maximum: int | None = None,
        shown: str | None = None,
    ) -> Variable[int]:
        def read() -> int:
            number = default if isinstance(default, int) else default()
            if maximum is None:
                return env.integer(name, number, minimum=minimum)
            return env.integer(name, number, minimum=minimum, maximum=maximum)

        values = f"from {minimum}" + ("" if maximum is None else f" to {maximum}")
        return self._add(Variable(name, values, str(default) if shown is None else shown, meaning, read))

    def choice(self, name: str, choices: tuple[str, ...], meaning: str) -> Variable[str]:
        """Declare a variable with choices, of which the first is the default."""
        values = ", ".join(f"`{choice}`" for choice in choices)
        return self._add(Variable(name, values, choices[0], meaning, lambda: env.choice(name, choices)))

    def flag(self, name: str, meaning: str) -> Variable[bool]:
        """Declare a variable that is yes or no, by default no."""
        return self._boolean(name, ("no", "yes"), meaning, true="yes")

    def switch(self, name: str, meaning: str) -> Variable[bool]:
        """Declare a variable that is on or off, by default on."""
        return self._boolean(name, ("on", "off"), meaning, true="on")

    def words(self, name: str, meaning: str, *, values: str, shown: str = "") -> Variable[list[str]]:
        return self._add(
            Variable(name, f"{values}, comma-separated", shown, meaning, lambda: env.words(name))
        )

    def some_of(self, name: str, choices: tuple[str, ...], meaning: str) -> Variable[frozenset[str]]:
        """Declare a variable with any number of choices, by default none."""
        values = f"some of {', '.join(f'`{choice}`' for choice in choices)}, comma-separated"
        return self._add(Variable(name, values, "none", meaning, lambda: env.some_of(name, choices)))

    def lower_case_words(self, name: str, meaning: str) -> Variable[frozenset[str]]:
        return self._add(
            Variable(
                name,
                "words, comma-separated",
                "",
                meaning,
                lambda: frozenset(map(str.lower, env.words(name))),
            )
        )

    def files(self, name: str, meaning: str, *, values: str, shown: str) -> Variable[list[Path]]:
        values = f"{values}, comma-separated"
        return self._add(Variable(name, values, shown, meaning, lambda: list(map(Path, env.words(name)))))

    def networks(
        self, name: str, default: str, meaning: str, *, shown: str | None = None
    ) -> Variable[list[IPv4Network | IPv6Network]]:
        values = "networks, comma-separated"
        shown = default if shown is None else shown
        return self._add(Variable(name, values, shown, meaning, lambda: env.networks(name, default)))

    def addresses(self, name: str, meaning: str) -> Variable[list[str]]:
        values = "IP addresses, comma-separated"
        return self._add(Variable(name, values, "", meaning, lambda: env.addresses(name)))

    def sockets(self, name: str, meaning: str, *, port: int, shown: str) -> Variable[list[tuple[str, int]]]:
        values = f"IP addresses, comma-separated, with a port if it is not {port}"
        return self._add(Variable(name, values, shown, meaning, lambda: env.sockets(name, port)))

    def host(self, name: str, default: str, meaning: str) -> Variable[str]:
        values = "IP address, host name or absolute path"
        return self._add(Variable(name, values, default, meaning, lambda: env.host(name, default)))

    def listener(
        self,
        name: str,
        default: Callable[[], str],
        meaning: str,
        *,
        used_port: Variable[int],
        used_host: Variable[str],
        shown: str,
    ) -> Variable[tuple[str, str, int]]:
        """``used_port`` and ``used_host`` are those of another listener, which this one must not have."""

        def read() -> tuple[str, str, int]:
            return env.listener(name, default(), used_port=used_port.read(), used_host=used_host.read())

        return self._add(Variable(name, "IP address with port, or absolute path", shown, meaning, read))

    def origins(self, name: str, meaning: str) -> Variable[list[str]]:
        values = "origins, comma-separated, or `*`"
        return self._add(Variable(name, values, "", meaning, lambda: env.origins(name)))

    def collector(self, name: str, meaning: str) -> Variable[str]:
        return self._add(Variable(name, "http or https URL", "none", meaning, lambda: env.collector(name)))

    def monthly_address(self, name: str, default: str, meaning: str, *, shown: str) -> Variable[str]:
        read = lambda: env.monthly_address(name, default)  # noqa: E731 # as for the other kinds
        return self._add(Variable(name, "URL", shown, meaning, read))

    def _boolean(self, name: str, choices: tuple[str, str], meaning: str, *, true: str) -> Variable[bool]:
        values = ", ".join(f"`{choice}`" for choice in choices)
        return self._add(
            Variable(name, values, choices[0], meaning, lambda: env.choice(name, choices) == true)
        )

    def _add(self, variable: Variable[Any]) -> Variable[Any]:
        self.variables.append(variable)
        return variable
