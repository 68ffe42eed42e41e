"""QR codes of links. `services` creates them, `selectors` reads them, and `drawing` renders their images."""
