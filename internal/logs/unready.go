/*
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
)

// unready are the reasons of the kubelet's events about a pod that is not ready: a probe fails, or a volume or the sandbox is missing.
var unready = []string{"Unhealthy", "FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox"}

// Unready is the newest message of the kubelet about a pod that is not ready; "" for none. No field of the pod has it.
func (r Reader) Unready(ctx context.Context, namespace string, pod types.UID) (string, error) {
	newest, err := r.newest(ctx, namespace, pod, unready...)
	return newest.Message, err
}
