"""Load of benchmarks: links of busy accounts, the visits and clicks of visitors, and `wrk`, which sends requests."""
