# Two images: `docker build --target local .` without PySpark and Java, `--target spark .` with both.
FROM python:3.11-slim-bookworm AS build
WORKDIR /source
COPY . .
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN scripts/image local /opt/cepctl

FROM build AS build-spark
RUN scripts/image spark /opt/cepctl

FROM python:3.11-slim-bookworm AS base
RUN useradd --create-home --uid 10001 cepctl
ENV PATH=/opt/cepctl/bin:$PATH
WORKDIR /data
USER 10001
ENTRYPOINT ["cepctl"]
CMD ["--help"]

FROM base AS spark
COPY --from=build-spark /opt/cepctl /opt/cepctl

FROM base AS local
ENV CEPCTL_RUNNER=local
COPY --from=build /opt/cepctl /opt/cepctl
