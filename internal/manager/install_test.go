/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/admission"
	"github.com/dbcluster/databasecluster-operator/config/engines"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

func TestTheLogReportsMissingPoliciesThatRestrictMembers(t *testing.T) {
	required, err := admission.Members()
	if err != nil || len(required) != 4 {
		t.Fatalf("%d policies and bindings: %v", len(required), err)
	}
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "validatingadmissionpolicies"}, "x", nil)
	for name, c := range map[string]struct {
		exist   []*unstructured.Unstructured
		refused error
		want    string
		lines   int
	}{
		"all exist":               {required, nil, "", 0},
		"a policy is missing":     {required[1:], nil, `"an admission policy is missing, so members of engines with roles or state may change all fields of their pods.`, 1},
		"none exists":             {nil, nil, `"name"="databasecluster-operator-member-configmaps"`, 4},
		"the rights are missing":  {required, refused, `"the operator is not allowed to check an admission policy`, 4},
		"the server returns less": {required, apierrors.NewInternalError(context.Canceled), `"could not check an admission policy`, 4},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := clientgoscheme.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			builder := fakeclient.For(scheme)
			for _, object := range c.exist {
				builder.WithObjects(object.DeepCopy())
			}
			reader := interceptor.NewClient(builder.Build(), interceptor.Funcs{
				Get: func(ctx context.Context, s client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
					if c.refused != nil {
						return c.refused
					}
					return s.Get(ctx, key, into, options...)
				},
			})
			var lines []string
			log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
			if err := (installer{reader: reader, required: required, log: log}).Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(lines, "\n"); len(lines) != c.lines || !strings.Contains(text, c.want) {
				t.Errorf("the log has %d lines, want %d with %s:\n%s", len(lines), c.lines, c.want, text)
			}
		})
	}
}

// RBAC cannot limit a plain create by name, and the operator may create only the built-in objects.
func TestMissingObjectsAreAppliedAndNotPosted(t *testing.T) {
	missing, err := engines.Objects()
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var applied []string
	server := interceptor.NewClient(fakeclient.For(scheme).Build(), interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "databaseengines"}, object.GetName(), nil)
		},
		Apply: func(ctx context.Context, s client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if named, ok := object.(interface{ GetName() string }); ok {
				applied = append(applied, named.GetName())
			}
			return s.Apply(ctx, object, options...)
		},
	})
	var lines []string
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	installed := installer{reader: server, writer: apply.Writer{Client: server}, objects: missing, log: log}
	for range 2 { // the second time, nothing is missing
		if err := installed.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(applied) != len(missing) || strings.Contains(strings.Join(lines, "\n"), "skipped") {
		t.Errorf("applied %v, want %d objects:\n%v", applied, len(missing), lines)
	}
}
