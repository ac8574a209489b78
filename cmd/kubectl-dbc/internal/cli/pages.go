/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// page is how many objects the API server sends at a time.
const page = 500

// List reads a list in pages, so that the API server never sends all objects of a namespace at once.
func (t *target) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	empty := list.DeepCopyObject()
	if err := t.Client.List(ctx, list, append(slices.Clone(options), client.Limit(page))...); err != nil || list.GetContinue() == "" {
		return err
	}
	var all []runtime.Object
	for read := list; ; {
		items, err := meta.ExtractList(read)
		if err != nil {
			return err
		}
		all = append(all, items...)
		next := read.GetContinue()
		if next == "" {
			list.SetContinue("")
			return meta.SetList(list, all)
		}
		read, _ = empty.DeepCopyObject().(client.ObjectList) // a field that the next page lacks would keep its value
		err = t.Client.List(ctx, read, append(slices.Clone(options), client.Limit(page), client.Continue(next))...)
		if apierrors.IsResourceExpired(err) { // the first page is too old
			return errors.Join(meta.SetList(list, nil), t.Client.List(ctx, list, options...))
		}
		if err != nil {
			return err
		}
	}
}
