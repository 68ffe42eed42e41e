"""New redirect workers get the links that visitors have followed recently, before anyone requests them again.

`loader` is a short-lived process of each host, which reads the links once for all workers. `shared` is the memory in
which it passes them on, and `reader` the thread of a worker that takes them over.
"""
