/*
SPDX-License-Identifier: Apache-2.0
*/

// Command kinds writes the files that list the API kinds, from their CRDs. Each file has a template of the same path.
//
//	go run ./hack/kinds
package main

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"text/template"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/dbcluster/databasecluster-operator/config/crd"
)

const folder, extension = "templates/", ".tmpl"

//go:embed templates
var templates embed.FS

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write() error {
	kinds, err := crd.Definitions()
	if err != nil {
		return err
	}
	files, err := render(kinds)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil { //nolint:gosec // it is no secret
			return err
		}
	}
	return nil
}

// render returns the texts of the files by their paths.
func render(kinds []apiextensionsv1.CustomResourceDefinition) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(templates, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		parsed, err := template.New(path.Base(name)).Funcs(template.FuncMap{"resources": resources}).ParseFS(templates, name)
		if err != nil {
			return err
		}
		var text strings.Builder
		if err := parsed.Execute(&text, kinds); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		files[strings.TrimSuffix(strings.TrimPrefix(name, folder), extension)] = text.String()
		return nil
	})
	return files, err
}

// resources lists the resources of the kinds with a scope, or a subresource of those that have it.
func resources(kinds []apiextensionsv1.CustomResourceDefinition, scope apiextensionsv1.ResourceScope, subresource string) string {
	var all []string
	for _, kind := range kinds {
		has, name := cmp.Or(kind.Spec.Versions[0].Subresources, &apiextensionsv1.CustomResourceSubresources{}), kind.Spec.Names.Plural
		switch {
		case kind.Spec.Scope != scope:
		case subresource == "":
			all = append(all, name)
		case subresource == "status" && has.Status != nil, subresource == "scale" && has.Scale != nil:
			all = append(all, name+"/"+subresource)
		}
	}
	return strings.Join(all, ", ")
}
