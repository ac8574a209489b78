/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Request is one request in the audit log.
type Request struct {
	User, Verb, Group string
	// Resource includes the subresource.
	Resource, Namespace, Name string
	Code                      int
	Message                   string
}

func (r Request) String() string {
	text := strings.TrimSpace(fmt.Sprintf("%s %s.%s %s/%s", r.Verb, r.Resource, r.Group, r.Namespace, r.Name))
	return fmt.Sprintf("%s as %s: %d %s", text, r.User, r.Code, r.Message)
}

// entry is a line of the audit log.
type entry struct {
	Verb             string
	User             struct{ Username string }
	ImpersonatedUser struct{ Username string }
	ObjectRef        struct {
		APIGroup, Resource, Subresource, Namespace, Name string
	}
	ResponseStatus struct {
		Code    int
		Message string
	}
}

func (e entry) request() Request {
	r := Request{
		User: e.User.Username, Verb: e.Verb, Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, Message: e.ResponseStatus.Message,
	}
	if e.ImpersonatedUser.Username != "" {
		r.User = e.ImpersonatedUser.Username
	}
	if e.ObjectRef.Subresource != "" {
		r.Resource += "/" + e.ObjectRef.Subresource
	}
	return r
}

// Requests returns the requests about objects in an audit log, from users that a function selects.
func Requests(path string, of func(user string) bool) ([]Request, error) {
	file, err := os.Open(path) //nolint:gosec // the caller names it
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	defer file.Close()
	var all []Request
	lines := bufio.NewReader(file)
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return all, nil // the API server is still writing an incomplete line
		}
		if err != nil {
			return nil, fmt.Errorf("read the audit log: %w", err)
		}
		var next entry
		if err := json.Unmarshal(text, &next); err != nil {
			return nil, fmt.Errorf("read a line of the audit log: %w: %s", err, text)
		}
		if r := next.request(); r.Resource != "" && of(r.User) {
			all = append(all, r)
		}
	}
}
