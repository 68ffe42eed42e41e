"""The settings of Django and of its apps that take more than a few lines, one subject a module: `database`, `logging`,
`templates` and `cors` for Django, `rest_framework` and `openapi` for the API, and `sign_in` for django-allauth.
"""
