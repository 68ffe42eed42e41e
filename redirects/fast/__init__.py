"""The fast lane, which answers from prepared bytes in the event loop: `lane.FastLane`, `health.Health`."""
