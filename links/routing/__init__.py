"""The fields that decide where a link leads: target, rules and split, and the URLs before its start and after its end.

`serializers` validates them, `branches` numbers rules and entries of the split, `columns` has the stored values, and
`addresses` lists the URLs that have to be checked. `representations` shows the fields in responses, and `schema`
describes their rules. `vocabulary` has the words of conditions, which redirects evaluate.
"""
