# Any image with Python 3.11 at /usr/local/bin/python will do; one that is pinned by its digest, best of all:
#   docker build --build-arg PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:... .
ARG PYTHON_IMAGE=docker.io/library/python:3.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
WORKDIR /srv
COPY requirements.txt .
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt
COPY . .
# The root of the container is read-only, so what Python would keep after the first start is made here.
RUN /venv/bin/python -m compileall -q --invalidation-mode unchecked-hash /srv

FROM ${PYTHON_IMAGE}
RUN groupadd --gid 10001 shortener \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/shortener --shell /usr/sbin/nologin shortener \
    && install -d -o 10001 -g 10001 -m 0700 /var/lib/shortener
COPY --from=build /venv /venv
COPY --from=build /srv /srv
WORKDIR /srv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOST=0.0.0.0 VAR_DIR=/var/lib/shortener
# By number, for who checks that it is not root's without reading the image's passwd.
USER 10001:10001
EXPOSE 8000
# The journal of clicks: what is answered but not yet counted.
VOLUME /var/lib/shortener
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\", 8000)}/healthz', timeout=3)"]
CMD ["python", "manage.py", "serve"]
