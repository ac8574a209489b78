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
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

const day = 24 * time.Hour

func declare(w *world.World, engine string) {
	if world.Topologies[engine] != "" {
		declareShared(w, engine)
		return
	}
	if store.Get[*dbv1.DatabaseEngine](w.Store, engine) != nil {
		return
	}
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: engine}}
	e.Spec.Topology = dbv1.TopologyIndependent
	e.Spec.Actions.Backup = &dbv1.EngineAction{Command: []string{"anydb", "backup"}}
	e.Spec.Actions.Restore = &dbv1.EngineAction{Command: []string{"anydb", "restore"}}
	if engine != world.AnyEngine {
		e.Spec.Container.Env = []dbv1.EngineVariable{{Name: world.EngineVariable, Value: engine}}
	}
	e.Spec.Actions.Probe = &dbv1.EngineAction{Command: []string{"anydb", "probe"}}
	e.Spec.Actions.Check = aCheck()
	w.Store.Put(e)
}

// changeEngine names another engine in the spec.
func changeEngine(engine string) world.Step {
	return world.Step{What: "engine is set to " + engine, Do: func(w *world.World) {
		declare(w, engine)
		c := w.Cluster()
		c.Spec.Engine = engine
		w.Store.Put(withDefaults(c))
	}}
}

// withEngine runs a step in a world that has the engine.
func withEngine(s world.Step) world.Step {
	do := s.Do
	s.Do = func(w *world.World) {
		declare(w, world.AnyEngine)
		do(w)
	}
	return s
}

// saved gives a cluster an engine and a backup destination.
func saved(c *dbv1.DatabaseCluster) {
	c.Spec.Engine = world.AnyEngine
	c.Spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: world.Bucket, CredentialSource: dbv1.CredentialsWorkloadIdentity}}
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
func runningSaved(replicas int32, changes ...func(*dbv1.DatabaseCluster)) world.Step {
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

func backUp(name string, policy dbv1.BackupDeletionPolicy) world.Step {
	return world.Step{What: fmt.Sprintf("DatabaseBackup %s is created (%s)", name, policy), Do: func(w *world.World) {
		b := &dbv1.DatabaseBackup{ObjectMeta: w.Meta(name)}
		b.Spec.Cluster, b.Spec.DeletionPolicy = w.Name, policy
		w.Store.Put(b)
	}}
}

// backUpElsewhere creates a backup with its own destination, which needs the Secret "credentials".
func backUpElsewhere(name string) world.Step {
	return world.Step{What: fmt.Sprintf("DatabaseBackup %s is created, to a bucket that needs the Secret credentials", name), Do: func(w *world.World) {
		b := &dbv1.DatabaseBackup{ObjectMeta: w.Meta(name)}
		b.Spec.Cluster, b.Spec.DeletionPolicy = w.Name, dbv1.BackupRetain
		b.Spec.Destination = &dbv1.BackupDestination{URL: world.Bucket, CredentialsSecretName: "credentials"}
		w.Store.Put(b)
	}}
}

// keys is the Secret "credentials" with keys of a bucket.
func keys() world.Step {
	return world.Step{What: "Secret credentials is created, with keys to the bucket", Do: func(w *world.World) {
		w.Store.Put(&corev1.Secret{ObjectMeta: w.Meta("credentials"), Data: map[string][]byte{
			"AWS_ACCESS_KEY_ID": []byte("me"), "AWS_SECRET_ACCESS_KEY": []byte("secret"),
		}})
	}}
}

// together executes several steps at the same time.
func together(steps ...world.Step) world.Step {
	var texts []string
	for _, s := range steps {
		texts = append(texts, s.What)
	}
	return world.Step{What: strings.Join(texts, "; "), Do: func(w *world.World) {
		for _, s := range steps {
			s.Do(w)
		}
	}}
}

// deleteBackup deletes the backups whose names have a prefix.
func deleteBackup(prefix string) world.Step {
	return world.Step{What: "DatabaseBackup " + prefix + " is deleted", Do: func(w *world.World) {
		for _, b := range store.All[*dbv1.DatabaseBackup](w.Store) {
			if strings.HasPrefix(b.Name, prefix) {
				w.Delete(b)
			}
		}
	}}
}

// finalHookFails is a cluster with a final backup and then a hook that fails until finalHookMended.
func finalHookFails(replicas int32, changes ...func(*dbv1.DatabaseCluster)) world.Step {
	changes = append([]func(*dbv1.DatabaseCluster){hook("final", dbv1.HookBackup), hook("farewell", dbv1.HookCommand, "farewell")}, changes...)
	s := runningSaved(replicas, changes...)
	do := s.Do
	s.Do = func(w *world.World) {
		world.GoesWrong(world.Trouble{Verb: "hook", Code: 1, Times: -1}).Do(w)
		do(w)
	}
	return s
}

func finalHookMended() world.Step { return together(world.Mended("hook"), deleteJob("-farewell-")) }

// scaleByHand restarts members that the operator has stopped.
func scaleByHand(replicas int32) world.Step {
	return world.Step{What: fmt.Sprintf("somebody scales the StatefulSet to %d", replicas), Do: func(w *world.World) {
		s := store.Get[*appsv1.StatefulSet](w.Store, w.Name)
		s.Spec.Replicas = &replicas
		w.Store.Put(s)
	}}
}

// jobOf finds a Job by a part of its name.
func jobOf(w *world.World, part string) *batchv1.Job {
	for _, job := range store.All[*batchv1.Job](w.Store) {
		if strings.Contains(job.Name, part) {
			return job
		}
	}
	return nil
}

func deleteJob(part string) world.Step {
	return world.Step{What: "somebody deletes Job ..." + part, Do: func(w *world.World) {
		if job := jobOf(w, part); job != nil {
			w.Delete(job)
		}
	}}
}

func removeForeground() world.Step {
	return world.Step{What: "the cluster is deleted in the foreground", Do: func(w *world.World) {
		world.Must(w.Store.Delete(w.Cluster(), &client.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}))
	}}
}

func verify(name string) world.Step {
	return world.Step{What: "a verification of DatabaseBackup " + name + " is asked for", Do: func(w *world.World) {
		b := store.Get[*dbv1.DatabaseBackup](w.Store, name)
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, dbv1.AnnotationVerify, b.Annotations[dbv1.AnnotationVerify]+"now")
		w.Store.Put(b)
	}}
}

func fromBackup(name string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: name}}
	}
}

func fromLocation(name string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		at := dbv1.BackupDestination{URL: fmt.Sprintf("%s/%s", world.Bucket, name), CredentialSource: dbv1.CredentialsWorkloadIdentity}
		c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Location: &at}}
	}
}

// newest starts with the newest backup of the previous cluster of the same name.
func newest(c *dbv1.DatabaseCluster) {
	at := dbv1.BackupDestination{URL: world.Bucket, CredentialSource: dbv1.CredentialsWorkloadIdentity}
	c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Newest: &dbv1.NewestBackup{Destination: at}}}
}

// newestOrEmpty starts empty if there is no such backup.
func newestOrEmpty(c *dbv1.DatabaseCluster) {
	newest(c)
	c.Spec.Bootstrap.FromBackup.IfMissing = dbv1.IfMissingCreate
}

// newestOf starts with the newest backup of a cluster of another name, or empty.
func newestOf(name string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		newestOrEmpty(c)
		c.Spec.Bootstrap.FromBackup.Newest.ClusterName = name
	}
}

func annotateCluster(what, key, value string) world.Step {
	return set(what, func(c *dbv1.DatabaseCluster) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, value) })
}

func skipHooks() world.Step {
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

func oldHangs() world.Step {
	return world.GoesWrong(world.Trouble{Verb: "restore", About: "old", Hangs: true, Times: -1})
}

func deleteClaim(claim string) world.Step {
	return world.Step{What: "claim " + claim + " is deleted", Do: func(w *world.World) { w.Delete(store.Get[*corev1.PersistentVolumeClaim](w.Store, claim)) }}
}

// loseClaim deletes the claim of a member that does not run, with the rows that only its volume has.
func loseClaim(claim string) world.Step {
	s := deleteClaim(claim)
	do := s.Do
	s.Do = func(w *world.World) {
		lost := store.Get[*corev1.PersistentVolumeClaim](w.Store, claim)
		w.ForgivesVolume(lost.UID)
		do(w)
	}
	return s
}

// firstUID is the part of the first cluster's UID that names contain.
const firstUID = "b9be14fb"
