"""Pages, in Chromium and as HTML."""
