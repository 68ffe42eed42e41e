"""How a scan is told from a click: the codes that are printed lead to the short link with this query."""

SCAN_MARKER = "qr=1"
