# zwang in a container: the demonstration is ready to run, its kernels compiled.
#   docker build -t zwang . && docker run --rm -v "$PWD:/out" zwang sh -c "make demo && cp report.html ledger.json /out"
FROM python:3.13-slim
RUN apt-get update && apt-get install --yes --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /zwang
COPY Makefile pyproject.toml hatch_build.py requirements.txt README.md LICENSE ./
COPY src src
ENV PIP_NO_CACHE_DIR=1
RUN make .make/package && .venv/bin/zwang warm
ENV PATH="/zwang/.venv/bin:$PATH"
CMD ["make", "demo"]
