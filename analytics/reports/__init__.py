"""Reads of the roll-ups: `reads` for reports, `click_log` for single clicks, and `activity` for what happens on the
whole service now. `periods` divides the days of a report into steps, `queries` has the SQL, and `sources` decides
which tables the counts of long ranges come from.

`workspaces` reports many links, and `filtered` a link with conditions on clicks; `selected` reads their figures, with
the SQL of `figures` from roll-ups or of `raw` from raw clicks. `costs` limits what reports may cost.
"""
