/*
SPDX-License-Identifier: Apache-2.0
*/

package apply

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

// +kubebuilder:rbac:groups="",resources=limitranges,verbs=list

// fitLimitRanges changes the resources of a new Job to satisfy the LimitRanges of its namespace. An operator with the rights of an older
// version may not list them: then the API server may refuse the pods, and the status names the field that helps.
func (w Writer) fitLimitRanges(ctx context.Context, object client.Object) error {
	job, is := object.(*batchv1.Job)
	if !is {
		return nil
	}
	ranges := &corev1.LimitRangeList{}
	err := w.Live.List(ctx, ranges, client.InNamespace(job.Namespace))
	if err != nil && !apierrors.IsForbidden(err) {
		return fmt.Errorf("read the LimitRanges for Job %s: %w", job.Name, err)
	}
	jobs.FitJob(job, ranges.Items)
	return nil
}
