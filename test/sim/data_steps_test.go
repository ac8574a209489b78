/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const day = 24 * time.Hour

func declare(w *world, engine string) {
	if topologies[engine] != "" {
		declareShared(w, engine)
		return
	}
	if get[*dbv1.DatabaseEngine](w.store, engine) != nil {
		return
	}
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: engine}}
	e.Spec.Topology = dbv1.TopologyIndependent
	e.Spec.Actions.Backup = &dbv1.EngineAction{Command: []string{"anydb", "backup"}}
	e.Spec.Actions.Restore = &dbv1.EngineAction{Command: []string{"anydb", "restore"}}
	if engine != engineName {
		e.Spec.Container.Env = []dbv1.EngineVariable{{Name: engineVariable, Value: engine}}
	}
	e.Spec.Actions.Probe = &dbv1.EngineAction{Command: []string{"anydb", "probe"}}
	e.Spec.Actions.Check = aCheck()
	w.store.put(e)
}

// changeEngine names another engine in the spec.
func changeEngine(engine string) step {
	return step{what: "engine is set to " + engine, do: func(w *world) {
		declare(w, engine)
		c := w.cluster()
		c.Spec.Engine = engine
		w.store.put(withDefaults(c))
	}}
}

// withEngine runs a step in a world that has the engine.
func withEngine(s step) step {
	do := s.do
	s.do = func(w *world) {
		declare(w, engineName)
		do(w)
	}
	return s
}

// saved gives a cluster an engine and a backup destination.
func saved(c *dbv1.DatabaseCluster) {
	c.Spec.Engine = engineName
	c.Spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: bucket, CredentialSource: dbv1.CredentialsWorkloadIdentity}}
}

// backupCPU sets the CPU request of backup Jobs.
func backupCPU(cpu string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Backup.Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}
	}
}

func onNoNode(c *dbv1.DatabaseCluster) {
	c.Spec.Scheduling.NodeSelector = map[string]string{"no-such-node": ""}
}

func onAnyNode(c *dbv1.DatabaseCluster) { c.Spec.Scheduling.NodeSelector = nil }

// runningSaved starts a story with an existing cluster that has an engine and a backup destination.
func runningSaved(replicas int32, changes ...func(*dbv1.DatabaseCluster)) step {
	return withEngine(running(replicas, append([]func(*dbv1.DatabaseCluster){saved}, changes...)...))
}

func hook(name string, kind dbv1.HookType, command ...string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Deletion.Hooks = append(c.Spec.Deletion.Hooks, dbv1.DeletionHook{Name: name, Type: kind, Command: command})
		c.Spec.Deletion.HookDeadlineSeconds = 600
	}
}

func hookFailurePolicy(policy dbv1.HookFailurePolicy) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { c.Spec.Deletion.HookFailurePolicy = policy }
}

func deleteVolumes(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Volumes = dbv1.VolumesDelete }

func backUp(name string, policy dbv1.BackupDeletionPolicy) step {
	return step{what: fmt.Sprintf("DatabaseBackup %s is created (%s)", name, policy), do: func(w *world) {
		b := &dbv1.DatabaseBackup{ObjectMeta: w.object(name)}
		b.Spec.Cluster, b.Spec.DeletionPolicy = w.name, policy
		w.store.put(b)
	}}
}

// backUpElsewhere creates a backup with its own destination, which needs the Secret "credentials".
func backUpElsewhere(name string) step {
	return step{what: fmt.Sprintf("DatabaseBackup %s is created, to a bucket that needs the Secret credentials", name), do: func(w *world) {
		b := &dbv1.DatabaseBackup{ObjectMeta: w.object(name)}
		b.Spec.Cluster, b.Spec.DeletionPolicy = w.name, dbv1.BackupRetain
		b.Spec.Destination = &dbv1.BackupDestination{URL: bucket, CredentialsSecretName: "credentials"}
		w.store.put(b)
	}}
}

// keys is the Secret "credentials" with keys of a bucket.
func keys() step {
	return step{what: "Secret credentials is created, with keys to the bucket", do: func(w *world) {
		w.store.put(&corev1.Secret{ObjectMeta: w.object("credentials"), Data: map[string][]byte{
			"AWS_ACCESS_KEY_ID": []byte("me"), "AWS_SECRET_ACCESS_KEY": []byte("secret"),
		}})
	}}
}

// together executes several steps at the same time.
func together(steps ...step) step {
	var texts []string
	for _, s := range steps {
		texts = append(texts, s.what)
	}
	return step{what: strings.Join(texts, "; "), do: func(w *world) {
		for _, s := range steps {
			s.do(w)
		}
	}}
}

// deleteBackup deletes the backups whose names have a prefix.
func deleteBackup(prefix string) step {
	return step{what: "DatabaseBackup " + prefix + " is deleted", do: func(w *world) {
		for _, b := range all[*dbv1.DatabaseBackup](w.store) {
			if strings.HasPrefix(b.Name, prefix) {
				w.erase(b)
			}
		}
	}}
}

// finalHookFails is a cluster with a final backup and then a hook that fails until finalHookMended.
func finalHookFails(replicas int32, changes ...func(*dbv1.DatabaseCluster)) step {
	changes = append([]func(*dbv1.DatabaseCluster){hook("final", dbv1.HookBackup), hook("farewell", dbv1.HookCommand, "farewell")}, changes...)
	s := runningSaved(replicas, changes...)
	do := s.do
	s.do = func(w *world) {
		goesWrong(trouble{verb: "hook", code: 1, times: -1}).do(w)
		do(w)
	}
	return s
}

func finalHookMended() step { return together(mended("hook"), deleteJob("-farewell-")) }

// scaleByHand restarts members that the operator has stopped.
func scaleByHand(replicas int32) step {
	return step{what: fmt.Sprintf("somebody scales the StatefulSet to %d", replicas), do: func(w *world) {
		s := get[*appsv1.StatefulSet](w.store, w.name)
		s.Spec.Replicas = &replicas
		w.store.put(s)
	}}
}

// jobOf finds a Job by a part of its name.
func jobOf(w *world, part string) *batchv1.Job {
	for _, job := range all[*batchv1.Job](w.store) {
		if strings.Contains(job.Name, part) {
			return job
		}
	}
	return nil
}

func deleteJob(part string) step {
	return step{what: "somebody deletes Job ..." + part, do: func(w *world) {
		if job := jobOf(w, part); job != nil {
			w.erase(job)
		}
	}}
}

func removeForeground() step {
	return step{what: "the cluster is deleted in the foreground", do: func(w *world) {
		must(w.store.delete(w.cluster(), &client.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}))
	}}
}

func verify(name string) step {
	return step{what: "a verification of DatabaseBackup " + name + " is asked for", do: func(w *world) {
		b := get[*dbv1.DatabaseBackup](w.store, name)
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, dbv1.AnnotationVerify, b.Annotations[dbv1.AnnotationVerify]+"now")
		w.store.put(b)
	}}
}

func fromBackup(name string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: name}}
	}
}

func fromLocation(name string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		at := dbv1.BackupDestination{URL: fmt.Sprintf("%s/%s", bucket, name), CredentialSource: dbv1.CredentialsWorkloadIdentity}
		c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Location: &at}}
	}
}

func annotateCluster(what, key, value string) step {
	return set(what, func(c *dbv1.DatabaseCluster) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, value) })
}

func skipHooks() step {
	return annotateCluster("the hooks are left out by annotation", dbv1.AnnotationSkipDeletionHooks, "true")
}

func scheduled(cron string, keep int32) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Backup.Schedules = []dbv1.BackupSchedule{{Name: "nightly", Schedule: cron, TimeZone: "UTC", Retention: &dbv1.BackupRetention{Count: &keep}}}
	}
}

func suspended(suspended bool) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { c.Spec.Backup.Schedules[0].Suspend = suspended }
}

func oldHangs() step {
	return goesWrong(trouble{verb: "restore", about: "old", hangs: true, times: -1})
}

func deleteClaim(claim string) step {
	return step{what: "claim " + claim + " is deleted", do: func(w *world) { w.erase(get[*corev1.PersistentVolumeClaim](w.store, claim)) }}
}

// loseClaim deletes the claim of a member that does not run, with the rows that only its volume has.
func loseClaim(claim string) step {
	s := deleteClaim(claim)
	do := s.do
	s.do = func(w *world) {
		lost := get[*corev1.PersistentVolumeClaim](w.store, claim)
		w.forgivesVolume(lost.UID)
		do(w)
	}
	return s
}

// firstUID is the part of the first cluster's UID that names contain.
const firstUID = "b9be14fb"
