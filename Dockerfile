FROM python:3.11-slim-bookworm AS build
WORKDIR /srv
COPY requirements.txt .
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt

FROM python:3.11-slim-bookworm
RUN useradd --system --home-dir /srv --uid 10001 shortener && install -d -o shortener /var/lib/shortener
COPY --from=build /venv /venv
WORKDIR /srv
COPY . .
USER shortener
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOST=0.0.0.0 VAR_DIR=/var/lib/shortener
EXPOSE 8000
VOLUME /var/lib/shortener
HEALTHCHECK --start-period=20s CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\", 8000)}/healthz', timeout=3)"]
CMD ["python", "manage.py", "serve"]
