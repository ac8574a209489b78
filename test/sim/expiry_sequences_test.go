/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// expirySequences test the retention, and backups of deleted clusters.
var expirySequences = []world.Story{
	world.Tell("schedule-verification-fails",
		runningSaved(1, scheduled("0 3 * * *", 1)), night(1), verify(nightly(1)), night(2), night(3),
		world.Corrupt(), verify(nightly(3)), night(4), verify(nightly(4)),
	),
	world.Tell("schedule-forged", runningSaved(1, scheduled("0 3 * * *", 2)), night(1), night(2), forged(3), night(3)),
	world.Tell("schedule-copied",
		runningSaved(1, scheduled("0 3 * * *", 2)), night(1), night(2), together(copied(nightly(1), "mine"), copied(nightly(2), "yours")), night(3),
	),
	world.Tell("schedule-name-taken",
		runningSaved(1, scheduled("0 3 * * *", 2)), together(backUp(nightly(1), dbv1.BackupRetain), world.At(4*time.Hour)), deleteBackup(nightly(1)), night(2),
	),
	world.Tell("backup-of-the-next-cluster",
		runningSaved(1), memberHangs(0), backUp("first", dbv1.BackupRetain), together(world.Away(true), replaced()), world.Mended("backup"), world.Away(false),
	),
	world.Tell("backup-runs-until-the-next-cluster",
		runningSaved(1), memberHangs(0), backUp("first", dbv1.BackupRetain), together(world.Away(true), replaced()), world.Away(false),
	),
	world.Tell("backup-image-changes",
		runningSaved(2), memberHangs(0), backUp("first", dbv1.BackupRetain), image("database:2"), world.Mended("backup"),
	),
	world.Tell("backup-while-rolling", runningSaved(2), image("database:missing"), backUp("first", dbv1.BackupRetain), image("database:2")),
	world.Tell("backup-image-changes-between-members",
		runningSaved(2), memberHangs(1), backUp("first", dbv1.BackupRetain), image("database:2"),
		together(world.Mended("backup"), backUp("second", dbv1.BackupRetain)),
	),
}

func memberHangs(member int) world.Step {
	return world.GoesWrong(world.Trouble{Verb: "backup", About: fmt.Sprintf("--member %d", member), Hangs: true, Times: -1})
}

// night lets time pass until the schedule creates the backup of a night.
func night(number int) world.Step { return world.At(time.Duration(number-1)*day + 4*time.Hour) }

// deletesToo is an operator that deletes another backup, too, when it deletes one.
func deletesToo(name string) interceptor.Funcs {
	return interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
		err := c.Delete(ctx, object, options...)
		if world.KindOf(object) != "DatabaseBackup" {
			return err
		}
		return firstOf(err, removed(ctx, c, &dbv1.DatabaseBackup{}, name))
	}}
}

// withoutVerification is an operator that sees no results of verifications.
func withoutVerification() interceptor.Funcs {
	return interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		err := c.List(ctx, list, options...)
		if backups, is := list.(*dbv1.DatabaseBackupList); is {
			for i := range backups.Items {
				backups.Items[i].Status.Verification = nil
				delete(backups.Items[i].Annotations, dbv1.AnnotationVerify)
			}
		}
		return err
	}}
}

var expiryMutants = map[string]mutant{
	"retention deletes the newest verified backup":   {deletesToo(nightly(1)), "schedule-verification-fails", "although it is the newest verified one"},
	"retention ignores the results of verifications": {withoutVerification(), "schedule-verification-fails", "is deleted"},
	"retention deletes a backup of another creator":  {deletesToo("mine"), "schedule-copied", "although the operator did not create it"},
	"a backup of a deleted cluster becomes complete": {
		rewritten(`"phase":"Failed"`, `"phase":"Completed"`), "backup-of-the-next-cluster", "its cluster no longer exists",
	},
	"a backup names an image that did not create it": {
		otherJob("-backup-", func(job map[string]any) {
			containers, _, _ := unstructured.NestedSlice(job, "spec", "template", "spec", "containers")
			containers[0].(map[string]any)["image"] = "database:0"
			world.Must(unstructured.SetNestedSlice(job, containers, "spec", "template", "spec", "containers"))
		}), "backup-image-changes", "member 0 was read with database:0",
	},
}

// rewritten is an operator that writes another value into a status.
func rewritten(from, to string) interceptor.Funcs {
	return interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
		text, err := patch.Data(object)
		world.Must(err)
		return c.SubResource(sub).Patch(ctx, object, client.RawPatch(patch.Type(), bytes.ReplaceAll(text, []byte(from), []byte(to))), options...)
	}}
}

func init() {
	maps.Copy(dataMutants, expiryMutants)
}
