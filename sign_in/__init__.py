"""The pages under /accounts/, served by django-allauth: login, passwords, second factors.

`adapters` connect allauth with accounts, sessions and limits. `forms` and `views` replace some of its own.
`middleware` restricts allauth to these paths.
"""
