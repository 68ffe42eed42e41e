"""The history of changes. `recording.authored_transaction` names the author of the changes in a transaction, `reading`
lists them, and `retention` deletes old ones. `views` is the API of a workspace's history. The history of a single
object shares its `serializers` and `representations`.
"""
