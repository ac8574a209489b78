/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"net/http"
	"regexp"
	"slices"
)

// Unused returns the permissions that no request needed.
func Unused(all []Right, requests []Request) []Right {
	return slices.DeleteFunc(slices.Clone(all), func(right Right) bool {
		return slices.ContainsFunc(requests, right.Allows)
	})
}

// Allows reports whether the permission allowed a request, or a part of it.
func (r Right) Allows(request Request) bool {
	return request.Code != http.StatusForbidden &&
		slices.Contains(request.verbs(), r.Verb) && r.Group == request.Group && r.Resource == request.Resource &&
		(r.Name == "" || r.Name == request.Name)
}

// verbs returns the verbs that a request needs: an apply of a missing object is also a create.
func (r Request) verbs() []string {
	if r.Verb == "patch" && r.Code == http.StatusCreated {
		return []string{"patch", "create"}
	}
	return []string{r.Verb}
}

// Beyond returns the requests that no permission allows, although the API server accepted them: another role granted
// them.
func Beyond(all []Right, requests []Request) []Request {
	return slices.DeleteFunc(slices.Clone(requests), func(request Request) bool {
		return request.Code == http.StatusForbidden || !slices.ContainsFunc(request.verbs(), func(verb string) bool {
			part := request
			part.Verb, part.Code = verb, http.StatusOK
			return !slices.ContainsFunc(all, func(right Right) bool { return right.Allows(part) })
		})
	})
}

// Refusal is an expected refusal of a request, by the message of the API server.
type Refusal struct{ Why, Message string }

// Refused returns the unexpected forbidden requests, and the expected refusals that did not occur.
func Refused(requests []Request, expected []Refusal) (unexpected []Request, never []Refusal) {
	met := map[Refusal]bool{}
	for _, request := range requests {
		if request.Code != http.StatusForbidden {
			continue
		}
		at := slices.IndexFunc(expected, func(e Refusal) bool { return regexp.MustCompile(e.Message).MatchString(request.Message) })
		if at < 0 {
			unexpected = append(unexpected, request)
			continue
		}
		met[expected[at]] = true
	}
	never = slices.DeleteFunc(slices.Clone(expected), func(e Refusal) bool { return met[e] })
	return unexpected, never
}
