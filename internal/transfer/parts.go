/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// partGrace is how long a part in flight may take after the end of its upload.
const partGrace = 5 * time.Second

// finishedParts lets a part in flight end before its upload is aborted. A service can store a part that it has received
// after the abort. Nothing removes such a part.
// See https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html.
type finishedParts struct{ s3.HTTPClient }

// Do sends a request. For a part, it returns when the part has ended, at most partGrace after the end of the upload.
func (c finishedParts) Do(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodPut || !request.URL.Query().Has("partNumber") {
		return c.HTTPClient.Do(request)
	}
	ended, cancel := context.WithCancel(context.WithoutCancel(request.Context()))
	stop := context.AfterFunc(request.Context(), func() { time.AfterFunc(partGrace, cancel) })
	defer stop()
	return c.HTTPClient.Do(request.WithContext(ended))
}
