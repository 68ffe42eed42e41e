"""What benchmarks and proofs share: `stack` and `running` start the service, `results` records figures."""
