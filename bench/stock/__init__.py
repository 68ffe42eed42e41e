"""A stock Django REST framework project of links, to compare with. It uses nothing of the service.

It is what `django-admin startproject`, `manage.py startapp` and DRF's tutorial give: the eight usual middlewares,
DRF's tokens, a ModelSerializer, a ModelViewSet and pagination. Only the database connections are kept open between
requests.
"""
