/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"
	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// codes maps error codes of S3 services to reasons. The HTTP status decides about other codes.
var codes = map[string]protocol.Reason{
	"AccessDenied":                 protocol.CredentialsRefused,
	"InvalidAccessKeyId":           protocol.CredentialsRefused,
	"SignatureDoesNotMatch":        protocol.CredentialsRefused,
	"ExpiredToken":                 protocol.CredentialsRefused,
	"InvalidToken":                 protocol.CredentialsRefused,
	"XAdminUserNotFound":           protocol.CredentialsRefused, // versitygw, with status 404
	"TokenRefreshRequired":         protocol.CredentialsRefused,
	"NoSuchBucket":                 protocol.DestinationMissing,
	"PermanentRedirect":            protocol.DestinationMissing,
	"AuthorizationHeaderMalformed": protocol.DestinationMissing, // the bucket is in another region
	"RequestTimeTooSkewed":         protocol.ClockSkew,
	"RequestExpired":               protocol.ClockSkew,
	"RequestNotYetValid":           protocol.ClockSkew,
	"QuotaExceeded":                protocol.DestinationFull,
	"InsufficientStorage":          protocol.DestinationFull,
	"XMinioStorageFull":            protocol.DestinationFull,
	"ConditionalRequestConflict":   protocol.DestinationUnreachable, // another attempt is writing the same manifest
	"XAmzContentSHA256Mismatch":    protocol.DestinationUnreachable, // the data changed in transit
	"BadDigest":                    protocol.DestinationUnreachable,
	"NoSuchKey":                    protocol.BackupCorrupt,
}

// bucketAdvice, volumeAdvice and anyAdvice are the actions that the user should take, for each reason of a store.
var (
	bucketAdvice = map[protocol.Reason]string{
		protocol.DestinationUnreachable: "Check the endpoint and its certificate, the NetworkPolicies of the namespace, and that the service " +
			"is healthy and has free space",
		protocol.CredentialsRefused: "Check the keys in the Secret that credentialsSecretName names, and the permissions of their user",
		protocol.DestinationMissing: "Create the bucket, or correct the url and the region",
	}
	volumeAdvice = map[protocol.Reason]string{
		protocol.DestinationUnreachable: "Check the storage of the volume",
		protocol.CredentialsRefused:     "Check the owner and the mode of the files on the volume, and that it is writable",
		protocol.DestinationMissing:     "Check that claimName names the volume of the backups",
	}
	anyAdvice = map[protocol.Reason]string{
		protocol.ClockSkew:       "Correct the clock of the pod's node",
		protocol.DestinationFull: "Free space at the destination",
		protocol.BackupCorrupt:   "Create another backup",
		protocol.Failed:          "See the log of the pod",
	}
)

// advice returns the action that the user should take.
func (s *store) advice(reason protocol.Reason) string {
	own := bucketAdvice
	switch {
	case s.Scheme == "file":
		own = volumeAdvice
	case s.workload && reason == protocol.CredentialsRefused:
		return "Check the permissions of the pod's workload identity"
	}
	return cmp.Or(own[reason], anyAdvice[reason])
}

// failure converts an error of a store to an Error. nil stays nil.
func (s *store) failure(verb, name string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	reason := storeReason(err)
	return failf(reason, "Cannot %s %s: %s. %s.", verb, s.URL(name), plainCause(cmp.Or(s.endpoint, "Amazon S3"), err), s.advice(reason))
}

func storeReason(err error) protocol.Reason {
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		if reason, known := codes[refusal.ErrorCode()]; known {
			return reason
		}
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok && response.HTTPStatusCode() != 0 {
		return statusReason(response.HTTPStatusCode())
	}
	if reason := volumeReason(err); reason != "" {
		return reason
	}
	if _, ok := errors.AsType[net.Error](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return protocol.DestinationUnreachable
	}
	if gcerrors.Code(err) == gcerrors.NotFound {
		return protocol.BackupCorrupt
	}
	return protocol.Failed
}

func statusReason(status int) protocol.Reason {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return protocol.CredentialsRefused
	case status == http.StatusNotFound || status == http.StatusMovedPermanently:
		return protocol.DestinationMissing
	case status == http.StatusInsufficientStorage:
		return protocol.DestinationFull
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		return protocol.DestinationUnreachable
	}
	return protocol.Failed
}

// volumeReason returns the reason for a file system error, or "".
func volumeReason(err error) protocol.Reason {
	for reason, causes := range map[protocol.Reason][]error{
		protocol.DestinationFull:        {unix.ENOSPC, unix.EDQUOT},
		protocol.CredentialsRefused:     {fs.ErrPermission, unix.EROFS},
		protocol.DestinationUnreachable: {unix.EIO, unix.ESTALE, unix.ENOTCONN, unix.EHOSTDOWN},
		protocol.DestinationMissing:     {fs.ErrNotExist},
	} {
		for _, cause := range causes {
			if errors.Is(err, cause) {
				return reason
			}
		}
	}
	return ""
}

// plainCause returns the cause without parts that differ between attempts: request IDs, addresses and ports. The service is the one
// that was called.
func plainCause(service string, err error) string {
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Sprintf("%s: %s", refusal.ErrorCode(), strings.TrimRight(refusal.ErrorMessage(), "."))
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok && response.HTTPStatusCode() != 0 {
		return fmt.Sprintf("the response was %d %s", response.HTTPStatusCode(), http.StatusText(response.HTTPStatusCode()))
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("the DNS lookup of %s failed: %s", lookup.Name, lookup.Err)
	}
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return broken(service, network)
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err.Error()
	}
	return innermost(err).Error()
}

// broken describes a connection that failed.
func broken(service string, network *net.OpError) string {
	switch network.Op {
	case "dial":
		return fmt.Sprintf("cannot connect to %s: %v", service, innermost(network))
	case "proxyconnect":
		return fmt.Sprintf("cannot connect to the proxy for %s: %v", service, innermost(network))
	}
	return fmt.Sprintf("the connection to %s failed: %v", service, innermost(network))
}

func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
