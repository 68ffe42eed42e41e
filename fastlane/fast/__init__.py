"""The fast lane, which answers from prepared bytes in the event loop: `lane.FastLane`, `health.Health`.

`lookup` reads links, and `prepared` prepares their answers. `capped` has the answers of links whose clicks the
database has to claim. `counts` adds up the metrics.
"""
