/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// verdict is the output of `operator-sdk bundle validate -o json-alpha1`.
type verdict struct {
	Passed  *bool `json:"passed"`
	Outputs []struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"outputs"`
}

// judge prints a verdict, and fails if it has any finding. operator-sdk itself accepts warnings. One of its validators
// mistakes rules on events for a removed API, unless an owned kind lists Event among its resources.
func judge(in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the verdict: %w", err)
	}
	fmt.Fprintln(out, string(text))
	var v verdict
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("the output of operator-sdk is not a verdict: %w", err)
	}
	var problems []error
	for _, o := range v.Outputs {
		problems = append(problems, fmt.Errorf("%s: %s", o.Type, o.Message))
	}
	if v.Passed == nil || !*v.Passed {
		problems = append(problems, errors.New("operator-sdk does not say that the bundle passed"))
	}
	return errors.Join(problems...)
}
