"""The dashboard with many links and clicks, in Chromium and with Lighthouse."""
