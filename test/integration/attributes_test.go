//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// attributesClass creates a VolumeAttributesClass.
func attributesClass(t *testing.T) string {
	t.Helper()
	class := &storagev1.VolumeAttributesClass{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "attributes-"}, DriverName: "csi.example.test", Parameters: map[string]string{"iops": "4000"},
	}
	createFor(t, class)
	return class.Name
}

// modifier modifies volumes as the controller of a CSI driver would, except to one class that the driver refuses.
func modifier(t *testing.T, cluster *dbv1.DatabaseCluster, refused string) {
	t.Helper()
	cluster = cluster.DeepCopy()
	repeat(t, func(ctx context.Context) {
		items, _ := claims(ctx, cluster)
		for i := range items {
			claim := &items[i]
			before, target := claim.DeepCopy(), claim.Spec.VolumeAttributesClassName
			switch {
			case target == nil || claim.Status.Phase != corev1.ClaimBound:
				continue
			case *target == refused:
				claim.Status.ModifyVolumeStatus = &corev1.ModifyVolumeStatus{TargetVolumeAttributesClassName: refused, Status: corev1.PersistentVolumeClaimModifyVolumeInfeasible}
				claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{
					Type: corev1.PersistentVolumeClaimVolumeModifyVolumeError, Status: corev1.ConditionTrue, Message: "too many IOPS",
				}}
			default:
				claim.Status.CurrentVolumeAttributesClassName, claim.Status.ModifyVolumeStatus, claim.Status.Conditions = target, nil, nil
			}
			_ = admin.Status().Patch(ctx, claim, client.MergeFrom(before))
		}
	})
}

// classOfTemplate returns the class of new claims. The StatefulSet may be absent, while it is re-created.
func classOfTemplate(t *testing.T, cluster *dbv1.DatabaseCluster) (*string, error) {
	t.Helper()
	set := statefulSet(cluster)
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		return nil, err
	}
	return set.Spec.VolumeClaimTemplates[0].Spec.VolumeAttributesClassName, nil
}

// awaitClass waits until each claim has a VolumeAttributesClass, and the StatefulSet creates such claims.
func awaitClass(t *testing.T, cluster *dbv1.DatabaseCluster, class string) {
	t.Helper()
	eventually(t, "claims of class "+class, func() error {
		items, err := claims(t.Context(), cluster)
		if err != nil {
			return err
		}
		for _, claim := range items {
			if got := claim.Spec.VolumeAttributesClassName; got == nil || *got != class {
				return fmt.Errorf("%s has %v", claim.Name, got)
			}
		}
		template, err := classOfTemplate(t, cluster)
		if err != nil {
			return err
		}
		return errorIf(len(items) != int(cluster.Spec.Replicas) || template == nil || *template != class, "%d claims, template %v", len(items), template)
	})
}

func TestVolumesGetOtherAttributesWhileTheMembersRun(t *testing.T) {
	parallel(t)
	gold, silver, refused := attributesClass(t), attributesClass(t), attributesClass(t)
	cluster := readyOnVolumes(t)
	before, set := uids(t, cluster), read(t, statefulSet(cluster))
	to := func(class string) func(*dbv1.DatabaseCluster) {
		return func(c *dbv1.DatabaseCluster) { c.Spec.Storage.VolumeAttributesClassName = class }
	}

	change(t, cluster, to(gold))
	await(t, cluster, "the operator to wait for the CSI driver", func() bool {
		c := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionProgressing)
		return c.Reason == dbv1.ReasonModifyingStorage && containsAll(c.Message, "VolumeAttributesClass "+gold, "the CSI driver has not modified the volume yet")
	})
	modifier(t, cluster, refused)
	awaitReady(t, cluster)
	awaitClass(t, cluster, gold)
	if m := read(t, cluster).Status.Members[0]; m.Volume == nil || m.Volume.AttributesClass != gold {
		t.Errorf("%+v", m.Volume)
	}
	if read(t, statefulSet(cluster)).UID == set.UID {
		t.Error("the StatefulSet was not re-created, so its claim template cannot have changed")
	}

	change(t, cluster, to(refused))
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonModifyInfeasible, "cannot get the attributes of VolumeAttributesClass "+refused, "too many IOPS")
	awaitTrue(t, cluster, dbv1.ConditionAvailable, dbv1.ReasonAllReplicasReady)

	change(t, cluster, to(silver))
	awaitReady(t, cluster)
	awaitClass(t, cluster, silver)
	mustNotBeRestarted(t, cluster, before)

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 4 })
	awaitClass(t, cluster, silver)

	change(t, cluster, to("")) // volumes keep their attributes
	eventually(t, "a claim template without a class", func() error {
		template, err := classOfTemplate(t, cluster)
		return errors.Join(err, errorIf(template != nil, "%v", template))
	})
	items, err := claims(t.Context(), cluster)
	if err != nil || items[0].Spec.VolumeAttributesClassName == nil || *items[0].Spec.VolumeAttributesClassName != silver {
		t.Errorf("%+v, %v", items[0].Spec, err)
	}
}
