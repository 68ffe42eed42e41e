"""Drawing QR codes: `rendering.render` is the entry point, `queue` bounds the work."""
