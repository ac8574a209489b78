/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readsNodes reports whether the operator may list nodes. A cache that may not list its objects never fills, so without the right the
// operator does not watch them: hand-overs then do not avoid nodes that are drained, and the condition EvictionBlocked reports that.
func readsNodes(ctx context.Context, reader client.Reader, log logr.Logger) bool {
	err := reader.List(ctx, &corev1.NodeList{}, client.Limit(1))
	if apierrors.IsForbidden(err) {
		log.Info("the operator may not list nodes, so the primary does not hand over before its node is drained", "cause", err.Error())
		return false
	}
	return true
}
