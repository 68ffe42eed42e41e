"""The compiled part of the event loop, which is optional: `event_loop.load` returns it where `build` has built it.

It answers known plain links, and does nothing that the Python loop does not: ``answering.pxi`` is `FastLane.answer`,
``accepting.pxi`` is `Acceptor.accept_batch`, and ``plain_links.pyx`` is `EventLoop.run_once`. Rules for a change:

- Bounds: indices of single bytes of the input stay checked; before each call with a pointer into it is a comparison
  with its end.
- Writes: only ``Buffer`` and ``_end_frame`` write to memory that can move.
- GIL: nothing uses Python objects without the interpreter lock.
- Layouts: a format that the Python code packs (`prepared`, the journal's records) changes here as well;
  `event_loop.py` compares them when it loads the module.
- Proof: ``make fuzz-loops`` compares both loops. With ``--sanitize``, the module is built with the sanitizers of the
  compiler.
"""
