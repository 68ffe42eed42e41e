"""The cost of customers' domains for redirects: the deletion of a large domain, and domains whose DNS does not
respond.
"""
