"""Writes small databases in MaxMind's format (https://maxmind.github.io/MaxMind-DB/)."""

import struct
from ipaddress import ip_network
from pathlib import Path
from typing import Any

MARKER = b"\xab\xcd\xefMaxMind.com"
Node = list[Any]


def write_mmdb(
    path: Path,
    records: dict[str, dict[str, Any]],
    *,
    ip_version: int,
    database_type: str = "Test",
    description: str = "",
) -> Path:
    """A database with one record per network. IPv4 networks fit in both IP versions."""
    root: Node = [None, None]
    for text, record in records.items():
        network = ip_network(text)
        bits = f"{int(network.network_address):0{network.max_prefixlen}b}"[: network.prefixlen]
        _insert(root, "0" * 96 + bits if (network.version, ip_version) == (4, 6) else bits, record)
    nodes = _flatten(root)
    tree, data = b"", b""
    for node in nodes:
        for child in node:
            if child is None:
                pointer = len(nodes)
            elif isinstance(child, list):
                pointer = next(index for index, other in enumerate(nodes) if other is child)
            else:
                pointer = len(nodes) + 16 + len(data)
                data += _encode(child)
            tree += struct.pack(">I", pointer)
    metadata = {
        "binary_format_major_version": _uint(5, 2),
        "binary_format_minor_version": _uint(5, 0),
        "build_epoch": _uint(9, 1_700_000_000),
        "database_type": database_type,
        "description": {"en": description},
        "ip_version": _uint(5, ip_version),
        "languages": [],
        "node_count": _uint(6, len(nodes)),
        "record_size": _uint(5, 32),
    }
    # Rename into place, as every replacement of a loaded file must.
    temporary = path.with_suffix(".new")
    temporary.write_bytes(tree + bytes(16) + data + MARKER + _encode(metadata))
    return temporary.replace(path)


def _insert(node: Node, bits: str, record: dict[str, Any]) -> None:
    for bit in map(int, bits[:-1]):
        if node[bit] is None:
            node[bit] = [None, None]
        node = node[bit]
    node[int(bits[-1])] = record


def _flatten(root: Node) -> list[Node]:
    nodes = [root]
    for node in nodes:
        nodes.extend(child for child in node if isinstance(child, list))
    return nodes


def _encode(value: Any) -> bytes:
    match value:
        case bytes():
            return value
        case str():
            return _header(2, len(value.encode())) + value.encode()
        case int():
            return _uint(6, value)
        case dict():
            return _header(7, len(value)) + b"".join(
                _encode(key) + _encode(item) for key, item in value.items()
            )
        case list():
            return _header(11, len(value)) + b"".join(map(_encode, value))
    raise TypeError(value)


def _uint(kind: int, value: int) -> bytes:
    size = (value.bit_length() + 7) // 8
    return _header(kind, size) + value.to_bytes(size)


def _header(kind: int, size: int) -> bytes:
    long = b"" if size < 29 else bytes([size - 29])
    first = min(size, 29)
    return (bytes([kind << 5 | first]) if kind <= 7 else bytes([first, kind - 7])) + long
