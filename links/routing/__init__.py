"""The fields that decide where a link leads: target, rules and split, and the URLs before its start and after its end.

`serializers` validates them, with the `conditions` of rules; `columns` has the stored values, and numbers rules and
entries of the split; `addresses` lists the URLs that have to be checked. `schema` describes the rules of the fields.
"""
