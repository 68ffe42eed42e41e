"""The clients' connections and their limits. `connection.Connection` is the state of one, `open_connections` owns all
of a process and closes them, `admission.Admission` limits their number, and `memory_bound.MemoryBound` their memory.
`listeners` knows which listener accepted a connection, and `disconnection` whether its client has gone.
"""
