# The operator image. For several platforms use "make docker-buildx": the compiler runs on the build platform. Requires
# BuildKit (the default since Docker 23.0) or podman. "make image-multiarch" requires neither.
FROM --platform=$BUILDPLATFORM golang:1.26.8 AS builder
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
WORKDIR /workspace

# Modules change less often than sources, so they have a separate layer.
COPY go.mod go.sum ./
RUN go mod download

COPY . .
RUN CGO_ENABLED=0 GOOS=${TARGETOS:-linux} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o manager ./cmd
# Jobs for backups and restores use this binary from the image.
RUN CGO_ENABLED=0 GOOS=${TARGETOS:-linux} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w" -o transfer ./cmd/transfer

FROM gcr.io/distroless/static:nonroot
ARG VERSION=dev
LABEL org.opencontainers.image.title="databasecluster-operator" \
      org.opencontainers.image.description="Runs stateful databases on Kubernetes" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.source="https://github.com/dbcluster/databasecluster-operator" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /
COPY --from=builder /workspace/manager /workspace/transfer ./
USER 65532:65532
ENTRYPOINT ["/manager"]
