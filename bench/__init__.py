"""Benchmarks and proofs, each a module or a folder; `bench/README.md` describes them. `harness` starts the service and
records figures, `load` has the links, clicks and requests, `baseline` the Django view and `stock` the project that
some programs compare with.
"""
