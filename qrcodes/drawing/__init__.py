"""Drawing QR codes: `rendering.render` is the entry point, `queue` bounds the work.

`design` has the choices of a caller and the colours that readers cannot scan, `logos` decodes untrusted images, and
`symbol` rejects images that are too small for a code.
"""
