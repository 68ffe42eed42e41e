"""Reads of the roll-ups: `reads` for reports, `click_log` for single clicks, `unknown_codes` for requests without a
link, and `today` for the operator's front page. `recent_links` finds the links that visitors followed most recently.

`periods` divides the days of a report into steps, `breakdowns` and `branches` are its lists, and `percentages` has
shares that add up to 100.
"""
