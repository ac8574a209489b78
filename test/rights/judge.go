/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"net/http"
	"regexp"
	"slices"
)

// Unused are the rights that no request needed.
func Unused(all []Right, requests []Request) []Right {
	return slices.DeleteFunc(slices.Clone(all), func(right Right) bool {
		return slices.ContainsFunc(requests, right.Allows)
	})
}

// Allows tells whether the right allowed a request, or a part of it.
func (r Right) Allows(request Request) bool {
	return request.Code != http.StatusForbidden &&
		slices.Contains(request.verbs(), r.Verb) && r.Group == request.Group && r.Resource == request.Resource &&
		(r.Name == "" || r.Name == request.Name)
}

// verbs are what a request must be allowed: to apply what does not exist is to create it as well.
func (r Request) verbs() []string {
	if r.Verb == "patch" && r.Code == http.StatusCreated {
		return []string{"patch", "create"}
	}
	return []string{r.Verb}
}

// Beyond are the requests that no right allows, although the API server let them pass: somebody else's role did.
func Beyond(all []Right, requests []Request) []Request {
	return slices.DeleteFunc(slices.Clone(requests), func(request Request) bool {
		return request.Code == http.StatusForbidden || !slices.ContainsFunc(request.verbs(), func(verb string) bool {
			part := request
			part.Verb, part.Code = verb, http.StatusOK
			return !slices.ContainsFunc(all, func(right Right) bool { return right.Allows(part) })
		})
	})
}

// Refusal is a refusal that the operator is meant to meet, by what the API server says.
type Refusal struct{ Why, Message string }

// Refused are the requests that were forbidden, but for those that are meant to be, and of these the ones that
// never happened.
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
