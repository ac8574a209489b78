/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"strings"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/archive"
)

//go:embed bucket.yaml
var bucketManifest string

const (
	// s3 is the name of the pod and of the Service of the S3 server, and of its container.
	s3 = "s3"
	// bucketURL is the URL of the bucket, and bucketFolder its folder in the pod.
	bucketURL, bucketFolder = "s3://backups/", "/data/backups/"
)

// BucketManifest has an S3 server on a volume of a StorageClass, or of the default one, its Service, and the Secret with its keys. It needs
// an image of versitygw, and one with a shell.
func BucketManifest(server, shell, disk string) string {
	return strings.NewReplacer("VERSITYGW", server, "SHELL", shell, "CLASS", cmp.Or(disk, "null")).Replace(bucketManifest)
}

// Bucket is an S3 server in the namespace of the lab.
type Bucket struct{ *Lab }

// NewBucket creates an S3 server on a volume of a StorageClass, and waits until it is ready.
func (l *Lab) NewBucket(ctx context.Context, server, disk string) (*Bucket, error) {
	b := &Bucket{l}
	if err := l.apply(ctx, BucketManifest(server, l.Image, disk)); err != nil {
		return nil, err
	}
	return b, Await(ctx, "the S3 server to be ready", func() bool {
		pod, err := b.pod(ctx)
		return err == nil && Ready(pod)
	})
}

// apply creates the objects of a manifest.
func (l *Lab) apply(ctx context.Context, manifest string) error {
	kubectl := exec.CommandContext(ctx, "kubectl", "-n", l.Namespace, "apply", "-f", "-")
	kubectl.Stdin = strings.NewReader(manifest)
	if text, err := kubectl.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply: %w: %s", err, text)
	}
	return nil
}

func (b *Bucket) pod(ctx context.Context) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	return pod, b.Get(ctx, b.key(s3), pod)
}

// Destination is a place in the bucket for backups.
func (b *Bucket) Destination() dbv1.BackupDestination {
	return dbv1.BackupDestination{URL: bucketURL + "prod", Endpoint: "http://s3:7070", CredentialsSecretName: "backup-credentials"}
}

// Shell runs a script in the folder of a URL of the bucket.
func (b *Bucket) Shell(ctx context.Context, url, script string) (string, error) {
	folder := bucketFolder + strings.TrimPrefix(url, bucketURL)
	return b.Exec(ctx, s3, "shell", "sh", "-ec", `cd "$0"; `+script, folder)
}

// Names are the objects below a URL, relative to it.
func (b *Bucket) Names(ctx context.Context, url string) ([]string, error) {
	text, err := b.Shell(ctx, url, `find . -type f -printf '%P\n'`)
	return strings.Fields(text), err
}

// Listing is an archive.
func (b *Bucket) Listing(ctx context.Context, url string) (archive.Listing, error) {
	names, err := b.Names(ctx, url)
	return archive.Read(names), err
}

// Freeze copies an archive as it is at a moment, without its bytes, and returns the moment and the URL of the copy.
func (b *Bucket) Freeze(ctx context.Context, url, name string) (Snapshot, error) {
	s := Snapshot{URL: bucketURL + "frozen/" + name}
	text, err := b.Shell(ctx, url, `mkdir -p /data/backups/frozen; date +%s.%N; cp -al . /data/backups/frozen/`+name)
	if err != nil {
		return s, err
	}
	if s.At, err = seconds(text); err != nil {
		return s, err
	}
	listing, err := b.Listing(ctx, s.URL)
	s.Newest = listing.Newest()
	return s, err
}

// Cut drops all packets of the server until the returned function is called.
func (b *Bucket) Cut(ctx context.Context) (heal func() error, err error) {
	pod, err := b.pod(ctx)
	if err != nil {
		return nil, err
	}
	return func() error { return Heal(ctx, pod) }, Cut(ctx, pod, "0.0.0.0/1", "128.0.0.0/1")
}

// Fill fills the volume of the server until the returned function is called.
func (b *Bucket) Fill(ctx context.Context) (heal func() error, err error) {
	_, err = b.Shell(ctx, bucketURL, "dd if=/dev/zero of=/data/fill bs=1M 2>/dev/null || true")
	return func() error {
		_, err := b.Shell(ctx, bucketURL, "rm -f /data/fill")
		return err
	}, err
}
