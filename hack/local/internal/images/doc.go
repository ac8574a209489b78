// Package images assembles container images without a Docker daemon or a registry. Each
// image is written as a docker-archive tarball, the format that
// "ctr --namespace k8s.io images import" and "docker load" both take.
//
// Images are reproducible: entries are sorted, timestamps are fixed, and nothing of the
// machine that assembles them is recorded, so the same inputs give the same digest.
package images
