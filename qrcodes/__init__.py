"""QR codes of links. `services` creates them, `selectors` reads them, and `drawing` draws the images of a `design`."""
