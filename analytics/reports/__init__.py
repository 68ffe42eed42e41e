"""Reads of the roll-ups: `reads` for reports, `click_log` for single clicks."""
