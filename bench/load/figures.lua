-- Prints the figures of a load for bench/load/wrk.py.

function done(summary, latency)
   local errors = summary.errors
   io.write(string.format(
      "\nfigures %d %d %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(50),
      latency:percentile(99), errors.status, errors.connect + errors.read + errors.write + errors.timeout
   ))
end
