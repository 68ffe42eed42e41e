"""Clicks and reports. `journal.capture` records a click, `counting.pipeline` counts it, `reports.reads` reports it.

`visitors` finds country, device and browser. `dimensions` declares by what clicks are counted. `serializers` validates
the parameters of reports, and has the kinds of clicks.
"""
