/*
SPDX-License-Identifier: Apache-2.0
*/

// Package requests decides which annotation or field of a cluster a command changes.
package requests

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Change is a merge patch of one object, and what it leads to.
type Change struct {
	// Annotation and Value are the request; empty for a change of the spec.
	Annotation, Value string
	// Patch is the merge patch.
	Patch []byte
	// Effect is what the change asks for. The operator can refuse it, or wait.
	Effect string
	// Risk is why the user must confirm the change; empty if it need not be confirmed.
	Risk string
}

// annotate is a change of an annotation.
func annotate(annotation, value, effect string) Change {
	annotations := map[string]string{annotation: value}
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}}) // strings never fail
	return Change{Annotation: annotation, Value: value, Patch: patch, Effect: effect}
}

// Command is the same change as a command of kubectl. Resource is like databasecluster/orders.
func (c Change) Command(namespace, resource string) string {
	if c.Annotation == "" {
		return fmt.Sprintf("kubectl -n %s patch %s --type=merge -p '%s'", namespace, resource, c.Patch)
	}
	return fmt.Sprintf("kubectl -n %s annotate %s %s=%s --overwrite", namespace, resource, c.Annotation, c.Value)
}

// Look is how to see whether the operator has executed the change. It records the requests of most annotations in status.requests.
func (c Change) Look(namespace, cluster string) string {
	look := fmt.Sprintf("See the result: kubectl dbc -n %s status %s", namespace, cluster)
	if c.Annotation == "" || c.Annotation == dbv1.AnnotationRenewCertificate {
		return look
	}
	return look + fmt.Sprintf(" shows the request until it is completed. Later, this shows it, too: kubectl -n %s get databasecluster %s "+
		"-o jsonpath='{.status.requests}'", namespace, cluster)
}

// stamp makes a request a new one.
func stamp(now time.Time) string { return now.UTC().Format(time.RFC3339) }

// Restart restarts all members one by one.
func Restart(cluster *dbv1.DatabaseCluster, now time.Time) (Change, error) {
	if err := running(cluster); err != nil {
		return Change{}, err
	}
	if cluster.Spec.UpdateStrategy.Type == dbv1.UpdateOnDelete {
		return Change{}, errors.New("spec.updateStrategy.type is OnDelete, so the operator restarts no member: delete the pods one by one")
	}
	effect := fmt.Sprintf("The request asks for a restart of the %d members, one by one.", cluster.Spec.Replicas)
	if cluster.Spec.UpdateStrategy.Paused {
		effect += " spec.updateStrategy.paused is true, so the operator waits until you set that to false."
	}
	c := annotate(dbv1.AnnotationRestart, stamp(now), effect)
	c.Risk = fmt.Sprintf("Each of the %d members restarts, which ends its connections.", cluster.Spec.Replicas)
	return c, nil
}

// Rotate replaces the generated passwords.
func Rotate(cluster *dbv1.DatabaseCluster, now time.Time) (Change, error) {
	if err := running(cluster); err != nil {
		return Change{}, err
	}
	if own := cluster.Spec.Credentials.SecretName; own != "" {
		return Change{}, fmt.Errorf("the passwords are in your Secret %s, which the operator never changes: change them there, and annotate the "+
			"cluster with %s", own, dbv1.AnnotationRefresh)
	}
	effect := "The request asks for new passwords in place of the generated ones, and then in the connection Secret."
	c := annotate(dbv1.AnnotationRotateCredentials, stamp(now), effect)
	c.Risk = "Clients that do not read the new passwords can no longer connect."
	return c, nil
}

// RenewCertificate renews the certificate now.
func RenewCertificate(cluster *dbv1.DatabaseCluster, now time.Time) (Change, error) {
	if err := running(cluster); err != nil {
		return Change{}, err
	}
	if cluster.Spec.TLS == nil || cluster.Spec.TLS.SelfSigned == nil {
		return Change{}, errors.New("the operator issues the certificate only with spec.tls.selfSigned: renew it where it was issued")
	}
	return annotate(dbv1.AnnotationRenewCertificate, stamp(now), "The request asks for a new certificate, which the members load."), nil
}

// Hibernate stops all members, or starts them again.
func Hibernate(cluster *dbv1.DatabaseCluster, hibernated bool) (Change, error) {
	if err := notDeleted(cluster); err != nil {
		return Change{}, err
	}
	if cluster.Spec.Hibernated == hibernated {
		return Change{}, fmt.Errorf("spec.hibernated is %t already", hibernated)
	}
	if cluster.Spec.Paused {
		return Change{}, errors.New("spec.paused is true, so the operator changes nothing: set it to false first")
	}
	c := Change{Patch: fmt.Appendf(nil, `{"spec":{"hibernated":%t}}`, hibernated)}
	c.Effect = "The spec asks for a start of all members."
	if hibernated {
		c.Effect = "The spec asks for a stop of all members, the primary last. Volumes, Services and the number of members stay."
		c.Risk = "No client can connect until you wake the cluster."
	}
	return c, nil
}

// HandOver lets another member become the primary: the named one, or else the ready replica with the least lag.
func HandOver(cluster *dbv1.DatabaseCluster, to string, lags map[string]int64, now time.Time) (Change, error) {
	if err := running(cluster); err != nil {
		return Change{}, err
	}
	if !slices.ContainsFunc(cluster.Status.Members, func(m dbv1.MemberStatus) bool { return m.Role != "" }) {
		return Change{}, errors.New("no member reports a role, so there is no primary to hand over: the engine has no roles, or no member " +
			"is ready")
	}
	if to == "" {
		if to = best(cluster, lags); to == "" {
			return Change{}, errors.New("no ready replica can take over")
		}
	}
	member, err := memberOf(cluster, to)
	switch {
	case err != nil:
		return Change{}, err
	case member.Role == dbv1.RolePrimary:
		return Change{}, fmt.Errorf("member %s is the primary already", member.Pod)
	case !member.Ready:
		return Change{}, fmt.Errorf("member %s is not ready, so it cannot take over", member.Pod)
	}
	from := cmp.Or(cluster.Status.Primary, "that is the primary")
	effect := fmt.Sprintf("The request asks member %s to hand over to member %s.", from, member.Pod)
	c := annotate(dbv1.AnnotationHandOver, member.Pod+"/"+stamp(now), effect)
	c.Risk = fmt.Sprintf("Connections to member %s end, and writes fail until member %s is the primary.", from, member.Pod)
	return c, nil
}

// best is the ready replica with the least lag. A known lag is better than an unknown one.
func best(cluster *dbv1.DatabaseCluster, lags map[string]int64) string {
	chosen := ""
	for _, m := range cluster.Status.Members {
		if !m.Ready || m.Role != dbv1.RoleReplica {
			continue
		}
		lag, known := lags[m.Pod]
		least, compared := lags[chosen]
		if chosen == "" || known && (!compared || lag < least) {
			chosen = m.Pod
		}
	}
	return chosen
}

// Rebuild gives a member an empty volume, into which it copies the data of the others.
func Rebuild(cluster *dbv1.DatabaseCluster, name string, now time.Time) (Change, error) {
	if err := running(cluster); err != nil {
		return Change{}, err
	}
	if cluster.Spec.Deletion.Protection {
		return Change{}, errors.New("spec.deletion.protection is true, so the API server refuses to delete the volume: set it to false first")
	}
	member, err := memberOf(cluster, name)
	if err != nil {
		return Change{}, err
	}
	if cluster.Spec.Replicas == 1 {
		return Change{}, fmt.Errorf("no other member has the data of member %s, so the operator would refuse the request", member.Pod)
	}
	claim := "its volume"
	if member.Volume != nil {
		claim = "PersistentVolumeClaim " + member.Volume.Claim
	}
	effect := fmt.Sprintf("The request asks for a new volume for member %s, into which it copies the data of the others.", member.Pod)
	c := annotate(dbv1.AnnotationRebuild, member.Pod+"/"+stamp(now), effect)
	c.Risk = fmt.Sprintf("The operator deletes %s with the data of member %s.", claim, member.Pod)
	return c, nil
}

// Verify verifies a backup: the named one, or else the newest complete one of the cluster.
func Verify(cluster *dbv1.DatabaseCluster, backups []dbv1.DatabaseBackup, name string, now time.Time) (dbv1.DatabaseBackup, Change, error) {
	var chosen *dbv1.DatabaseBackup
	for i := range backups {
		b := &backups[i]
		if b.Spec.Cluster == cluster.Name && (name == b.Name || name == "" && b.Status.Phase == dbv1.BackupCompleted && newer(b, chosen)) {
			chosen = b
		}
	}
	switch none := (dbv1.DatabaseBackup{}); {
	case chosen == nil && name != "":
		return none, Change{}, fmt.Errorf("DatabaseCluster %[1]s has no DatabaseBackup %[2]s: kubectl dbc backups %[1]s lists them",
			cluster.Name, name)
	case chosen == nil:
		return none, Change{}, fmt.Errorf("DatabaseCluster %[1]s has no complete backup: kubectl dbc backup %[1]s creates one", cluster.Name)
	case chosen.Status.Phase != dbv1.BackupCompleted:
		return none, Change{}, fmt.Errorf("DatabaseBackup %s is not complete, so it cannot be verified", chosen.Name)
	}
	effect := "The request asks for a restore of DatabaseBackup " + chosen.Name + " into a temporary copy, and a check of that."
	return *chosen, annotate(dbv1.AnnotationVerify, stamp(now), effect), nil
}

func newer(b, than *dbv1.DatabaseBackup) bool {
	if than == nil || than.Status.CompletionTime == nil {
		return true
	}
	return b.Status.CompletionTime != nil && b.Status.CompletionTime.After(than.Status.CompletionTime.Time)
}

// memberOf is a member by the name of its pod or by its ordinal.
func memberOf(cluster *dbv1.DatabaseCluster, name string) (dbv1.MemberStatus, error) {
	var names []string
	for _, m := range cluster.Status.Members {
		if name == m.Pod || name == strconv.Itoa(int(m.Ordinal)) {
			return m, nil
		}
		names = append(names, m.Pod)
	}
	if len(names) == 0 {
		return dbv1.MemberStatus{}, fmt.Errorf("DatabaseCluster %s has no members now", cluster.Name)
	}
	return dbv1.MemberStatus{}, fmt.Errorf("DatabaseCluster %s has no member %s: its members are %s",
		cluster.Name, name, strings.Join(names, ", "))
}

// running reports why the operator would not execute a request.
func running(cluster *dbv1.DatabaseCluster) error {
	switch {
	case cluster.DeletionTimestamp != nil:
		return notDeleted(cluster)
	case cluster.Spec.Paused:
		return errors.New("spec.paused is true, so the operator changes nothing: set it to false first")
	case cluster.Spec.Hibernated:
		return fmt.Errorf("the cluster is hibernated: kubectl dbc wake %s starts it", cluster.Name)
	}
	return nil
}

func notDeleted(cluster *dbv1.DatabaseCluster) error {
	if cluster.DeletionTimestamp != nil {
		return fmt.Errorf("DatabaseCluster %s is being deleted", cluster.Name)
	}
	return nil
}
