/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
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
)

// codes of S3 services that have a reason of their own. The HTTP status decides about the others.
var codes = map[string]Reason{
	"AccessDenied":                 CredentialsRefused,
	"InvalidAccessKeyId":           CredentialsRefused,
	"SignatureDoesNotMatch":        CredentialsRefused,
	"ExpiredToken":                 CredentialsRefused,
	"InvalidToken":                 CredentialsRefused,
	"XAdminUserNotFound":           CredentialsRefused, // versitygw, with status 404
	"TokenRefreshRequired":         CredentialsRefused,
	"NoSuchBucket":                 DestinationMissing,
	"PermanentRedirect":            DestinationMissing,
	"AuthorizationHeaderMalformed": DestinationMissing, // another region
	"RequestTimeTooSkewed":         ClockSkew,
	"RequestExpired":               ClockSkew,
	"RequestNotYetValid":           ClockSkew,
	"QuotaExceeded":                DestinationFull,
	"InsufficientStorage":          DestinationFull,
	"XMinioStorageFull":            DestinationFull,
	"ConditionalRequestConflict":   DestinationUnreachable, // another attempt writes the same manifest
	"XAmzContentSHA256Mismatch":    DestinationUnreachable, // it arrived changed
	"BadDigest":                    DestinationUnreachable,
	"NoSuchKey":                    BackupCorrupt,
}

// advice is what to do, for each reason that a store gives.
var advice = map[Reason]string{
	DestinationUnreachable: "Check that the service is well and has room, the endpoint's name, port and certificate, and the network policies of the namespace",
	CredentialsRefused:     "Check the keys of the Secret, and what their user may do there; on a volume, which user and group its files belong to",
	DestinationMissing:     "Make the bucket or mount the volume, or correct the url and the region",
	ClockSkew:              "Set the clock of the node that the pod ran on",
	DestinationFull:        "Make room there",
	BackupCorrupt:          "Take another backup",
	Failed:                 "See the log of the pod",
}

// failure makes an Error of what a store answered.
func (s *store) failure(verb, name string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	reason := storeReason(err)
	return failf(reason, "Cannot %s %s: %s. %s.", verb, s.url(name), plainCause(err), advice[reason])
}

func storeReason(err error) Reason {
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
		return DestinationUnreachable
	}
	if gcerrors.Code(err) == gcerrors.NotFound {
		return BackupCorrupt
	}
	return Failed
}

func statusReason(status int) Reason {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return CredentialsRefused
	case status == http.StatusNotFound || status == http.StatusMovedPermanently:
		return DestinationMissing
	case status == http.StatusInsufficientStorage:
		return DestinationFull
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		return DestinationUnreachable
	}
	return Failed
}

// volumeReason is that of an error of the file system, or nothing.
func volumeReason(err error) Reason {
	for reason, causes := range map[Reason][]error{
		DestinationFull:        {unix.ENOSPC, unix.EDQUOT},
		CredentialsRefused:     {fs.ErrPermission, unix.EROFS},
		DestinationUnreachable: {unix.EIO, unix.ESTALE, unix.ENOTCONN, unix.EHOSTDOWN},
		DestinationMissing:     {fs.ErrNotExist},
	} {
		for _, cause := range causes {
			if errors.Is(err, cause) {
				return reason
			}
		}
	}
	return ""
}

// plainCause is the cause without what differs from one try to the next: the numbers of requests and ports.
func plainCause(err error) string {
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Sprintf("%s: %s", refusal.ErrorCode(), strings.TrimRight(refusal.ErrorMessage(), "."))
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok && response.HTTPStatusCode() != 0 {
		return fmt.Sprintf("the answer was %d %s", response.HTTPStatusCode(), http.StatusText(response.HTTPStatusCode()))
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("the name %s cannot be looked up: %s", lookup.Name, lookup.Err)
	}
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Sprintf("%s: %v", network.Op, network.Err)
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err.Error()
	}
	return innermost(err).Error()
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
