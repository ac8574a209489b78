/*
SPDX-License-Identifier: Apache-2.0
*/

// Package contract has what the conformance tests need of a client of a database, and their result as a table.
package contract

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/util/yaml"
	syaml "sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Client is how a client writes and reads. Its texts are run by sh in a pod with the image of the engine.
type Client struct {
	// Replicas is the number of members in the run. Default: 1.
	Replicas int32 `json:"replicas,omitempty"`
	// Durable is false for a cache, whose rows need not be there after a restart. Default: true.
	Durable *bool `json:"durable,omitempty"`
	// WithoutTLS is true if the image has no client that supports TLS.
	WithoutTLS bool `json:"withoutTLS,omitempty"`
	// Setup begins each of the other texts.
	Setup string `json:"setup,omitempty"`
	// Connect connects only by the entries of the connection Secret, as an application does.
	Connect string `json:"connect,omitempty"`
	// Write writes the row with the number ROW to HOST, and exits with 0 when the database has acknowledged it.
	Write string `json:"write,omitempty"`
	// List prints the numbers of all rows at HOST.
	List string `json:"list,omitempty"`
	// Parameter is changed in the run.
	Parameter *Parameter `json:"parameter,omitempty"`
	// Spec has further fields for spec of the cluster.
	Spec dbv1.DatabaseClusterSpec `json:"spec,omitzero"`
}

// Parameter is a parameter of the engine.
type Parameter struct {
	Name string `json:"name"`
	// Value differs from the default.
	Value string `json:"value"`
	// Refused is a value that the engine refuses.
	Refused string `json:"refused"`
	// Show prints the value in force at HOST.
	Show string `json:"show"`
}

// Stores reports whether rows are expected after a restart.
func (c Client) Stores() bool { return c.Write != "" && (c.Durable == nil || *c.Durable) }

// Script is a text of the client with its setup.
func (c Client) Script(text string) string { return c.Setup + "\n" + text }

// ReadClient reads a client.
func ReadClient(file string) (Client, error) {
	client := Client{Replicas: 1}
	text, err := os.ReadFile(file)
	if err != nil {
		return client, err
	}
	if err := syaml.UnmarshalStrict(text, &client); err != nil {
		return client, fmt.Errorf("%s: %w: docs/conformance.md lists the fields", file, err)
	}
	return client, nil
}

// FindClient reads the client of an engine by its name: in the folder conformance beside the engine, or in one of the other
// folders. Without a file, the client has one member, and no text.
func FindClient(engineFile, engine string, folders ...string) (Client, error) {
	for _, folder := range append([]string{filepath.Join(filepath.Dir(engineFile), "conformance")}, folders...) {
		client, err := ReadClient(filepath.Join(folder, engine+".yaml"))
		if !errors.Is(err, os.ErrNotExist) {
			return client, err
		}
	}
	return Client{Replicas: 1}, nil
}

// ReadEngine reads the first DatabaseEngine of a file.
func ReadEngine(file string) (*dbv1.DatabaseEngine, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		engine := &dbv1.DatabaseEngine{}
		if err := decoder.Decode(engine); err != nil {
			return nil, fmt.Errorf("%s has no DatabaseEngine: %w", file, err)
		}
		if engine.Kind == "DatabaseEngine" {
			return engine, nil
		}
	}
}
