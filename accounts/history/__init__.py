"""The history of changes. `recording.authored_transaction` names the author of the changes in a transaction, `reading`
lists them. `views` is the API of a workspace's history; the histories of single objects use its `HistoryQuery`.
"""
