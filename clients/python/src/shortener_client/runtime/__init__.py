"""What every call shares: credentials, retries, errors and pages. The generated operations are built on it.

Start reading at `transport.py`. `exchange.py` decides without input or output, so that the synchronous and the
asynchronous transport cannot differ.
"""
