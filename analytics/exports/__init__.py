"""Reports and clicks as files: `tables` has their columns and rows, `formats` and `parquet` write them, and `archive`
adds a manifest. `responses` sends them.
"""
