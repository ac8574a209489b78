/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// decideRelated changes a converged cluster of three members with one database, and compares the resulting plan.
func decideRelated(t *testing.T, topology dbv1.EngineTopology, scenarios map[string]scenario) {
	t.Helper()
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			cluster, observed := plans.Related(t, topology)
			s.change(cluster, &observed)
			if got := plans.Text(plans.Decide(cluster, observed)); got != s.want {
				t.Errorf("got:\n%swant:\n%s", got, s.want)
			}
		})
	}
}

func fresh(c *dbv1.DatabaseCluster, o *state.Observed) {
	declared := o.Engine
	*o = state.Observed{At: o.At, Engine: declared, Image: "transfer:1", ServiceAccount: o.ServiceAccount, Role: o.Role, RoleBinding: o.RoleBinding, HeadlessService: o.HeadlessService,
		Service: o.Service, ReplicasService: o.ReplicasService, PodDisruptionBudget: o.PodDisruptionBudget, NetworkPolicy: o.NetworkPolicy, AgreementsRead: true, Agreements: plans.Agreed()}
	c.Status.UpdateRevision = ""
}

func filled(ordinal int32) state.Volume {
	return state.Volume{Claim: naming.ClaimIn(naming.DataVolume, "orders", ordinal), UID: "claim", Ordinal: ordinal, Managed: true,
		Contents: state.Contents{Cluster: plans.UID, Engine: "ledger-v1", Primary: "orders-0", Fill: state.Filled, From: state.Initialized}}
}

const awaitsAgreement = "ConfigMap orders-leader has the agreement of the members of the previous cluster of the same name. " +
	"The operator adopts it with their volumes, or deletes it if there are none\n"

func alone(o *state.Observed, ready bool, role string) {
	o.Members = o.Members[:1]
	o.Members[0].Ready = ready
	plans.Roles(o, role)
	one := int32(1)
	o.StatefulSet.Spec.Replicas = &one
}

func TestMembersOfOneDatabaseStartFromOneVolume(t *testing.T) {
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"the rights and the agreement come before the data": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				fresh(c, o)
				o.ServiceAccount, o.Role, o.RoleBinding, o.Agreements = nil, nil, nil, nil
			},
			"create ServiceAccount orders\ncreate Role orders\ncreate RoleBinding orders\ncreate ConfigMap orders-leader\n" +
				"Applying: create ServiceAccount orders, create Role orders, create RoleBinding orders, create ConfigMap orders-leader\n",
		},
		"without its volumes, the agreement of a previous cluster is deleted first": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				fresh(c, o)
				o.Agreements[0].Cluster = "previous"
			},
			"delete ConfigMap orders-leader: the volumes of the previous cluster of the same name no longer exist\nAdoptingVolumes: " + awaitsAgreement,
		},
		"not while a member runs that may use it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				fresh(c, o)
				o.Agreements[0].Cluster = "previous"
				o.Bystanders = []state.Bystander{{Name: "orders-0", Component: dbv1.ComponentDatabase, Cluster: "previous", Orphan: true}}
			},
			"AdoptingVolumes: " + awaitsAgreement,
		},
		"with its volumes, it is adopted after them": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				fresh(c, o)
				o.Agreements[0].Cluster = "previous"
				o.Volumes = []state.Volume{filled(0)}
			},
			"adopt ConfigMap orders-leader\nAdoptingVolumes: " + awaitsAgreement,
		},
		"it stays as long as the claims cannot be adopted": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				fresh(c, o)
				o.Agreements[0].Cluster = "previous"
				o.Volumes = []state.Volume{filled(0)}
				o.Volumes[0].Cluster, o.Volumes[0].Terminating = "previous", true
			},
			"AdoptingVolumes: PersistentVolumeClaim data-orders-0 of the previous cluster of the same name is terminating. Wait until it is deleted; " +
				"its member then starts with an empty volume. Or give the cluster another name\nSTALLED VolumeConflict\n",
		},
		"a claim for member 0 alone": {
			fresh,
			"create PersistentVolumeClaim data-orders-0\nInitializing: creating the volumes: PersistentVolumeClaim data-orders-0\n",
		},
		"a failed attempt to create the data is no restore": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				fresh(c, o)
				v := filled(0)
				v.Fill, v.From = state.Filling, naming.InitializeID(plans.UID)
				o.Volumes = []state.Volume{v}
				o.Restore.Jobs = []jobs.Job{{
					Name: naming.RestoreJob("orders", v.From, v.UID, 0), UID: "job", Component: dbv1.ComponentRestore, Started: true, Pod: "x-1", Code: 1, Problem: "no such program",
				}}
			},
			"InitializeRetrying: writing the first data into the volume of member 0; Kubernetes retries Job " +
				naming.RestoreJob("orders", naming.InitializeID(plans.UID), "claim", 0) + ": pod x-1: no such program\n",
		},
		"member 0 alone starts with it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				fresh(c, o)
				o.Volumes = []state.Volume{filled(0)}
			},
			"create StatefulSet orders\nApplying: create StatefulSet orders\n",
		},
		"the others wait until it is the primary": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				alone(o, true, "")
				o.Members[0].Created = plans.Ago(time.Minute)
			},
			"WaitingForMembers: 1 of 3 members are ready\nagain in 4m0s\n",
		},
		"then all of them start": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { alone(o, true, "primary") },
			"update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
		"they do not wait for ever": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				alone(o, false, "")
				o.Members[0].Created = plans.Ago(5 * time.Minute)
			},
			"update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
		"nor for a member 0 whose data is lost": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				alone(o, false, "")
				o.Volumes = o.Volumes[1:]
			},
			"update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
		"a cluster that had members never gets other data": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				fresh(c, o)
				c.Status.UpdateRevision = "old"
			},
			"create StatefulSet orders\nApplying: create StatefulSet orders\n",
		},
	})
}

func TestThePrimaryHandsOverBeforeItIsDisturbed(t *testing.T) {
	job := naming.HandOverJob("orders", "pod-0")
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"nothing happens to an idle cluster": {
			func(*dbv1.DatabaseCluster, *state.Observed) {}, "UpToDate: the cluster matches its spec\n",
		},
		"a rollout begins with the replicas": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0, 1, 2) },
			"restart orders-2\nRollingOut: 3 members are outdated; restarting pod orders-2\n",
		},
		"whatever their ordinals are": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1, 2)
				plans.Roles(o, "replica", "replica", "primary")
			},
			"restart orders-1\nRollingOut: 3 members are outdated; restarting pod orders-1\n",
		},
		"and ends with the primary, which hands over": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0) },
			"create Job " + job + "\nHandingOver: 1 member is outdated; pod orders-0 hands over to another member\n",
		},
		"it is not restarted while its label does not follow": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0)
				o.Jobs = []jobs.Job{plans.Task(job, true)}
			},
			"HandingOver: 1 member is outdated; pod orders-0 has handed over; waiting for its role\nagain in 1m0s\n",
		},
		"it is restarted as a replica": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0)
				plans.Roles(o, "replica", "replica", "primary")
				o.Jobs = []jobs.Job{plans.Task(job, true)}
			},
			"restart orders-0\nRollingOut: 1 member is outdated; restarting pod orders-0\n",
		},
		"the result of an old hand-over does not count": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0)
				o.Jobs = []jobs.Job{plans.Task(job, true)}
				o.Jobs[0].EndTime = plans.Ago(time.Minute)
			},
			"delete Job " + job + ": it runs again\nHandingOver: 1 member is outdated; pod orders-0 hands over to another member\n",
		},
		"if no member can take over, the primary stays": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0)
				o.Jobs = []jobs.Job{plans.Task(job, false)}
				o.Jobs[0].Code, o.Jobs[0].Failure = protocol.ExitPrecondition, "no member can take over"
			},
			"HandingOver: 1 member is outdated; pod orders-0 hands over to another member: Job " + job + " failed: no member can take over. The operator repeats it after a minute\nagain in 1m0s\n",
		},
		"a member whose role is unknown is asked": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 2)
				plans.Roles(o, "primary", "replica", "")
			},
			"create Job " + naming.HandOverJob("orders", "pod-2") + "\nHandingOver: 1 member is outdated; pod orders-2 hands over to another member\n",
		},
		"and is restarted if it is not the primary": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 2)
				plans.Roles(o, "primary", "replica", "")
				o.Jobs = []jobs.Job{plans.Task(naming.HandOverJob("orders", "pod-2"), false)}
				o.Jobs[0].Code = protocol.ExitNotApplicable
			},
			"restart orders-2\nRollingOut: 1 member is outdated; restarting pod orders-2\n",
		},
		"without a primary no ready member is disturbed": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 2)
				plans.Roles(o, "replica", "replica", "replica")
				o.AgreementsRead, o.Agreements = true, plans.Agreed()
			},
			"RollingOut: 1 member is outdated; waiting for a primary\n",
		},
		"a primary that is down may recover before another one is elected": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1, 2)
				o.Members[0].Ready, o.Members[0].ReadySince = false, plans.Ago(50*time.Second)
				o.AgreementsRead, o.Agreements = true, plans.Agreed()
			},
			"RollingOut: 3 members are outdated; waiting for pod orders-0 to stay ready\nagain in 10s\n",
		},
		"after that it is restarted": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1, 2)
				o.Members[0].Ready, o.Members[0].ReadySince = false, plans.Ago(60*time.Second)
				o.AgreementsRead, o.Agreements = true, plans.Agreed()
			},
			"restart orders-0\nRollingOut: 3 members are outdated; restarting pod orders-0\n",
		},
		"with two primaries nothing is disturbed": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 2)
				plans.Roles(o, "primary", "primary", "replica")
			},
			"TwoPrimaries: pods orders-0 and orders-1 report that they are the primary; the operator disturbs no member\nagain in 5s\n",
		},
		"scaling in hands over to the lowest replica": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas = 1
				plans.Roles(o, "replica", "replica", "primary")
			},
			"create Job " + naming.HandOverJob("orders", "pod-2") + "\nHandingOver: pod orders-2 hands over to another member\n",
		},
		"that keeps its volume": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas, o.Volumes[0].Terminating, o.Volumes[1].Terminating = 1, true, true
				plans.Roles(o, "replica", "replica", "primary")
			},
			"Scaling: scaling in from 3 to 1 members waits until another member can take over from pod orders-2\n",
		},
		"hibernation stops the primary last": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Hibernated = true
				plans.Roles(o, "replica", "replica", "primary")
			},
			"scale in to 2 from 1\nHibernating: scaling in from 3 to 0 members, one at a time\n",
		},
		"the last member stops without a hand-over": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Hibernated = true
				alone(o, true, "primary")
			},
			"scale in to 0\nHibernating: scaling in from 1 to 0 members, one at a time\n",
		},
		"so does a deletion": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.DeletionTimestamp = &metav1.Time{Time: plans.Now}
				plans.Roles(o, "replica", "replica", "primary")
			},
			"scale in to 2 from 1\nTerminating: scaling in from 3 to 0 members, one at a time\n",
		},
		"a request is accepted first": {
			asks(dbv1.RequestHandOver, "orders-2"),
			"record the request HandOver orders-2: Accepted\nHandingOver: pod orders-0 hands over to another member\n",
		},
		"then it hands over": {
			all(asks(dbv1.RequestHandOver, "orders-2"), has(dbv1.RequestHandOver, "orders-2", dbv1.RequestAccepted, "")),
			"create Job " + naming.HandOverJob("orders", "request", "orders-2", plans.UID) + "\nHandingOver: pod orders-0 hands over to another member\n",
		},
		"a request whose Job has ended is recorded, whoever took over": {
			all(asks(dbv1.RequestHandOver, "orders-2"), has(dbv1.RequestHandOver, "orders-2", dbv1.RequestAccepted, ""),
				task(plans.Task(naming.HandOverJob("orders", "request", "orders-2", plans.UID), true))),
			"record the request HandOver orders-2: Completed\nHandingOver: the primary has handed over, but pod orders-2 is not the primary\n",
		},
		"before a rollout hands over again": {
			all(asks(dbv1.RequestHandOver, "orders-2"), has(dbv1.RequestHandOver, "orders-2", dbv1.RequestAccepted, ""),
				task(plans.Task(naming.HandOverJob("orders", "request", "orders-2", plans.UID), true)),
				func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0, 1, 2) }),
			"record the request HandOver orders-2: Completed\nHandingOver: the primary has handed over, but pod orders-2 is not the primary\n",
		},
		"the Job of an earlier request with the same text does not count": {
			all(asks(dbv1.RequestHandOver, "orders-2"), task(plans.Task(naming.HandOverJob("orders", "request", "orders-2", plans.UID), true))),
			"delete Job " + naming.HandOverJob("orders", "request", "orders-2", plans.UID) + ": the same request comes again\nHandingOver: pod orders-0 hands over to another member\n",
		},
		"nor while it runs": {
			all(asks(dbv1.RequestHandOver, "orders-2"), task(jobs.Job{
				Name: naming.HandOverJob("orders", "request", "orders-2", plans.UID), Component: dbv1.ComponentHandOver, Active: true, Started: true, StartTime: new(plans.Ago(time.Second)),
			})),
			"HandingOver: waiting until Job " + naming.HandOverJob("orders", "request", "orders-2", plans.UID) +
				" has ended; next: pod orders-0 hands over to another member\nagain in 5s\n",
		},
		"a request is recorded when it is done": {
			asks(dbv1.RequestHandOver, "orders-0"),
			"record the request HandOver orders-0: Completed\nHandingOver: pod orders-0 is the primary\n",
		},
		"not while an earlier hand-over may still change that": {
			all(asks(dbv1.RequestHandOver, "orders-0"), task(jobs.Job{
				Name: "orders-handover-1", Component: dbv1.ComponentHandOver, Active: true, Started: true, StartTime: new(plans.Ago(time.Second)),
			})),
			"HandingOver: waiting until Job orders-handover-1 has ended; next: pod orders-0 is the primary\nagain in 5s\n",
		},
		"also before a rollout": {
			all(asks(dbv1.RequestHandOver, "orders-0"), func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0, 1, 2) }),
			"record the request HandOver orders-0: Completed\nHandingOver: pod orders-0 is the primary\n",
		},
		"a request that was done is not repeated after a failover": {
			all(asks(dbv1.RequestHandOver, "orders-2"), has(dbv1.RequestHandOver, "orders-2", dbv1.RequestCompleted, "")),
			"UpToDate: the cluster matches its spec\n",
		},
		"nor one that a previous version of the operator recorded": {
			all(asks(dbv1.RequestHandOver, "orders-2"), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet.Annotations[dbv1.AnnotationHandedOver] = "orders-2"
			}),
			"UpToDate: the cluster matches its spec\n",
		},
		"nor one that the cluster has before its first status": {
			all(asks(dbv1.RequestHandOver, "orders-2"), func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Status.Conditions = nil }),
			"UpToDate: the cluster matches its spec\n",
		},
		"a request for another pod is a new one, and so is the first one after it": {
			all(asks(dbv1.RequestHandOver, "orders-2"), has(dbv1.RequestHandOver, "orders-1", dbv1.RequestAccepted, "")),
			"record the request HandOver orders-2: Accepted\nHandingOver: pod orders-0 hands over to another member\n",
		},
		"the result of an earlier hand-over does not count after this one": {
			all(asks(dbv1.RequestHandOver, "orders-2"), has(dbv1.RequestHandOver, "orders-2", dbv1.RequestAccepted, ""), task(ended("orders-handover-1", dbv1.ComponentHandOver))),
			"delete Job orders-handover-1: another one of its kind follows\ncreate Job " + naming.HandOverJob("orders", "request", "orders-2", plans.UID) +
				"\nHandingOver: pod orders-0 hands over to another member\n",
		},
		"text after a slash makes it a new request": {
			all(asks(dbv1.RequestHandOver, "orders-2/again"), has(dbv1.RequestHandOver, "orders-2", dbv1.RequestCompleted, "")),
			"record the request HandOver orders-2/again: Accepted\nHandingOver: pod orders-0 hands over to another member\n",
		},
		"a request that names no member is refused": {
			asks(dbv1.RequestHandOver, "orders-3"),
			"record the request HandOver orders-3: Refused\nUpToDate: the cluster matches its spec\n",
		},
		"also while the cluster is paused": {
			all(asks(dbv1.RequestHandOver, "orders-3"), func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Paused = true }),
			"record the request HandOver orders-3: Refused\nUpToDate: the cluster matches its spec\n",
		},
		"also before a rollout, which it does not delay": {
			all(asks(dbv1.RequestHandOver, "orders-3"), func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 2) }),
			"record the request HandOver orders-3: Refused\nrestart orders-2\nRollingOut: 1 member is outdated; restarting pod orders-2\n",
		},
		"one that was accepted is refused when its member is removed": {
			all(asks(dbv1.RequestHandOver, "orders-3"), has(dbv1.RequestHandOver, "orders-3", dbv1.RequestAccepted, "")),
			"record the request HandOver orders-3: Refused\nUpToDate: the cluster matches its spec\n",
		},
		"one whose Job has failed is refused, and the primary stays": {
			all(asks(dbv1.RequestHandOver, "orders-2"), has(dbv1.RequestHandOver, "orders-2", dbv1.RequestAccepted, ""), task(failed(requestJob))),
			"record the request HandOver orders-2: Refused\nHandingOver: a request is refused: Job " + requestJob + " failed: the replica is behind\n",
		},
		"so is one whose Job cannot start, after its Job is deleted": {
			all(asks(dbv1.RequestHandOver, "orders-2"), has(dbv1.RequestHandOver, "orders-2", dbv1.RequestAccepted, ""), task(blocked(requestJob))),
			"delete Job " + requestJob + ": its request is refused\nrecord the request HandOver orders-2: Refused\n" +
				"HandingOver: a request is refused: Job " + requestJob + " cannot start: its pod cannot be created: quota. Raise the quota\n",
		},
		"which disturbs nobody": {
			all(asks(dbv1.RequestHandOver, "orders-3"), has(dbv1.RequestHandOver, "orders-3", dbv1.RequestRefused, "")), "UpToDate: the cluster matches its spec\n",
		},
	})
}

// requestJob is the Job of a hand-over to pod orders-2.
var requestJob = naming.HandOverJob("orders", "request", "orders-2", plans.UID)

// failed is a hand-over that has failed.
func failed(job string) jobs.Job {
	t := plans.Task(job, false)
	t.Component, t.Failure = dbv1.ComponentHandOver, "the replica is behind"
	return t
}

// blocked is a hand-over whose pod cannot be created.
func blocked(job string) jobs.Job {
	return jobs.Job{Name: job, UID: "job", Component: dbv1.ComponentHandOver, Refusal: "quota", Remedy: "Raise the quota"}
}

// asks sets the annotation of a request.
func asks(kind dbv1.ClusterRequestType, value string) change {
	return func(c *dbv1.DatabaseCluster, _ *state.Observed) {
		c.Annotations = map[string]string{map[dbv1.ClusterRequestType]string{
			dbv1.RequestHandOver: dbv1.AnnotationHandOver, dbv1.RequestRebuild: dbv1.AnnotationRebuild,
		}[kind]: value}
	}
}

// has is the record of a request.
func has(kind dbv1.ClusterRequestType, value string, is dbv1.ClusterRequestState, claim string) change {
	return func(c *dbv1.DatabaseCluster, _ *state.Observed) {
		c.Status.Requests = []dbv1.ClusterRequestStatus{{Type: kind, Request: value, State: is, ClaimUID: claim}}
	}
}

// ended is a Job of a kind that has succeeded.
func ended(job, component string) jobs.Job {
	t := plans.Task(job, true)
	t.Component = component
	return t
}

func TestObjectsThatANamesakeUsesAreWrittenOnlyAfterALiveRead(t *testing.T) {
	cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
	observed.ServiceAccount.Labels[dbv1.LabelClusterUID] = "next"
	if p := plans.Decide(cluster, observed); len(p.Operations) != 1 || !p.LiveRead() {
		t.Errorf("a write of the ServiceAccount: operations %v, decided from the API server: %v", p.Operations, p.LiveRead())
	}
}

func TestARebuildDeletesOnlyTheVolumeThatItRecorded(t *testing.T) {
	rebuild := func(pod string, recorded ...dbv1.ClusterRequestStatus) change {
		return all(asks(dbv1.RequestRebuild, pod), func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Status.Requests = recorded
			for i := range o.Members {
				o.Members[i].Node = "node"
			}
		})
	}
	accepted := func(pod, claim string) dbv1.ClusterRequestStatus {
		return dbv1.ClusterRequestStatus{Type: dbv1.RequestRebuild, Request: pod, State: dbv1.RequestAccepted, ClaimUID: claim}
	}
	completed := func(pod string) dbv1.ClusterRequestStatus {
		return dbv1.ClusterRequestStatus{Type: dbv1.RequestRebuild, Request: pod, State: dbv1.RequestCompleted}
	}
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"first the record": {
			rebuild("orders-2"), "record the request Rebuild orders-2: Accepted\nRebuilding: PersistentVolumeClaim data-orders-2 is deleted; its member then copies the data of the others\n",
		},
		"then the claim and the pod": {
			rebuild("orders-2", accepted("orders-2", "claim-2")),
			"rebuild orders-2\nRebuilding: PersistentVolumeClaim data-orders-2 is deleted; its member then copies the data of the others\n",
		},
		"then it waits until the claim no longer exists": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				rebuild("orders-2", accepted("orders-2", "claim-2"))(c, o)
				o.Volumes[2].Terminating, o.Members[2].Node = true, ""
			},
			"Rebuilding: PersistentVolumeClaim data-orders-2 is deleted; its member then copies the data of the others\n",
		},
		"not if the member has become the primary since the record": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				rebuild("orders-2", accepted("orders-2", "claim-2"))(c, o)
				plans.Roles(o, "replica", "replica", "primary")
			},
			"create Job " + naming.HandOverJob("orders", "pod-2") + "\nHandingOver: pod orders-2 hands over to another member\n",
		},
		"not if no other member serves since the record": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				rebuild("orders-2", accepted("orders-2", "claim-2"))(c, o)
				o.Members[0].Ready, o.Members[1].Ready = false, false
				o.AgreementsRead, o.Agreements = true, plans.Agreed()
			},
			"Rebuilding: PersistentVolumeClaim data-orders-2 is deleted when enough of the other members are ready\n",
		},
		"not a member that serves while too many others are down": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				rebuild("orders-2", accepted("orders-2", "claim-2"))(c, o)
				o.Members[1].Ready = false
			},
			"Rebuilding: PersistentVolumeClaim data-orders-2 is deleted when enough of the other members are ready\n",
		},
		"but one that is down, to repair it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				rebuild("orders-2", accepted("orders-2", "claim-2"))(c, o)
				o.Members[1].Ready, o.Members[2].Ready = false, false
			},
			"rebuild orders-2\nRebuilding: PersistentVolumeClaim data-orders-2 is deleted; its member then copies the data of the others\n",
		},
		"a request that was executed does not matter after scaling in": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				rebuild("orders-4", accepted("orders-4", "claim-4"))(c, o)
			},
			"UpToDate: the cluster matches its spec\n",
		},
		"text after a slash makes it a new request": {
			rebuild("orders-2/again", accepted("orders-2", "earlier")),
			"record the request Rebuild orders-2/again: Accepted\nRebuilding: PersistentVolumeClaim data-orders-2 is deleted; its member then copies the data of the others\n",
		},
		"a shorter request is a new one": {
			rebuild("orders-2", accepted("orders-2/again", "claim-2")),
			"record the request Rebuild orders-2: Accepted\nRebuilding: PersistentVolumeClaim data-orders-2 is deleted; its member then copies the data of the others\n",
		},
		"a claim of another UID stays": {
			rebuild("orders-2", accepted("orders-2", "earlier")), "record the request Rebuild orders-2: Completed\nRebuilding: pod orders-2 has a new PersistentVolumeClaim\n",
		},
		"which is done once": {rebuild("orders-2", completed("orders-2")), "UpToDate: the cluster matches its spec\n"},
		"also if a previous version of the operator recorded it": {
			all(rebuild("orders-2"), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet.Annotations[dbv1.AnnotationRebuilt] = "orders-2/earlier"
			}),
			"record the request Rebuild orders-2: Completed\nRebuilding: pod orders-2 has a new PersistentVolumeClaim\n",
		},
		"nor is one executed of which nothing is known, because the status is lost": {
			all(rebuild("orders-2"), func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Status.Conditions = nil }), "UpToDate: the cluster matches its spec\n",
		},
		"the primary hands over before": {
			rebuild("orders-0"), "create Job " + naming.HandOverJob("orders", "pod-0") + "\nHandingOver: pod orders-0 hands over to another member\n",
		},
		"a member that the cluster has not": {
			rebuild("orders-3"), "record the request Rebuild orders-3: Refused\nUpToDate: the cluster matches its spec\n",
		},
		"a primary whose hand-over has failed stays": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				rebuild("orders-0")(c, o)
				o.Jobs = []jobs.Job{failed(naming.HandOverJob("orders", "pod-0"))}
			},
			"record the request Rebuild orders-0: Refused\nRebuilding: a request is refused: Job " + naming.HandOverJob("orders", "pod-0") + " failed: the replica is behind\n",
		},
		"a protected claim": {
			all(rebuild("orders-2"), func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Deletion.Protection = true
				for i := range o.Volumes {
					o.Volumes[i].Protected = true
				}
			}),
			"record the request Rebuild orders-2: Refused\nUpToDate: the cluster matches its spec\n",
		},
		"not while no other member has the data": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				rebuild("orders-2")(c, o)
				plans.Roles(o, "replica", "replica", "replica")
				o.AgreementsRead, o.Agreements = true, plans.Agreed()
			},
			"Rebuilding: PersistentVolumeClaim data-orders-2 is deleted when enough of the other members are ready\n",
		},
	})
}

func TestOneOfTwoVotersIsNotRebuilt(t *testing.T) {
	two := func(c *dbv1.DatabaseCluster, o *state.Observed) {
		asks(dbv1.RequestRebuild, "orders-1")(c, o)
		c.Spec.Replicas = 2
	}
	cluster, observed := plans.Related(t, dbv1.TopologyConsensus)
	two(cluster, &observed)
	record, found := plans.Find[operation.Record](plans.Decide(cluster, observed), "record the request Rebuild")
	if !found || record.Request.State != dbv1.RequestRefused || !strings.Contains(record.Request.Message, "no majority") {
		t.Errorf("%+v", record.Request)
	}
}

func TestAFinishedPodDoesNotKeepALostVolume(t *testing.T) {
	decideRelated(t, dbv1.TopologyConsensus, map[string]scenario{
		"the pod that created the data": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes[0].Terminating, o.Members[0].Ready = true, false
				o.Bystanders = []state.Bystander{{Name: "orders-restore-x", UID: "x", Cluster: plans.UID, Component: dbv1.ComponentRestore, Ended: true, Mounts: true}}
			},
			"delete Pod orders-restore-x: it blocks the deletion of a volume\nWaitingForMembers: 2 of 3 members are ready; pod orders-0 is not ready\n",
		},
	})
}

func TestAMemberLeavesTheListOfTheOthersBeforeItStops(t *testing.T) {
	job, missing := naming.MemberRemoveJob("orders", 2, "set", "1", "pod-2"), naming.MemberRemoveJob("orders", 2, "set", "1", "")
	shrink := func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 1 }
	decideRelated(t, dbv1.TopologyConsensus, map[string]scenario{
		"first the removal": {
			shrink, "create Job " + job + "\nRemovingMember: the other members remove pod orders-2 from their list\n",
		},
		"then the stop": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				shrink(c, o)
				o.Jobs = []jobs.Job{plans.Task(job, true)}
			},
			"scale in to 2\nScaling: scaling in from 3 to 1 members, one at a time\n",
		},
		"not if the member has started again since, and may have joined again": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				shrink(c, o)
				o.Jobs = []jobs.Job{plans.Task(naming.MemberRemoveJob("orders", 2, "set", "1", "earlier"), true)}
			},
			"create Job " + job + "\nRemovingMember: the other members remove pod orders-2 from their list\n",
		},
		"nor if its pod did not exist when the removal began": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				shrink(c, o)
				o.Jobs = []jobs.Job{plans.Task(missing, true)}
			},
			"create Job " + job + "\nRemovingMember: the other members remove pod orders-2 from their list\n",
		},
		"a member without a pod stops after its removal, too": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				shrink(c, o)
				o.Members, o.Jobs = o.Members[:2], []jobs.Job{plans.Task(missing, true)}
			},
			"scale in to 2\nScaling: scaling in from 3 to 1 members, one at a time\n",
		},
		"not while the member starts: it could join after its removal": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				shrink(c, o)
				o.Members[2].Ready, o.Members[2].Created = false, plans.Ago(time.Minute)
			},
			"RemovingMember: pod orders-2 is removed after it has joined the others\nagain in 4m0s\n",
		},
		"also of a member that is down": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				shrink(c, o)
				o.Members[2].Ready = false
			},
			"create Job " + job + "\nRemovingMember: the other members remove pod orders-2 from their list\n",
		},
		"not while the others have no majority": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				shrink(c, o)
				o.Members[1].Ready = false
			},
			"RemovingMember: pod orders-2 cannot be removed: 1 of the other members are ready, but 2 are needed for a majority\n",
		},
		"hibernation removes no member": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Hibernated = true },
			"scale in to 2\nHibernating: scaling in from 3 to 0 members, one at a time\n",
		},
		"new members come one by one": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Replicas, o.Volumes[0].Voters = 5, 4 },
			"record on PersistentVolumeClaim data-orders-1: engine \"ledger-v1\", primary \"\", voters 4\n" +
				"record on PersistentVolumeClaim data-orders-2: engine \"ledger-v1\", primary \"\", voters 4\nupdate StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
		"each waits for the previous one": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas = 5
				o.Members[2].Ready = false
			},
			"WaitingForMembers: 2 of 5 members are ready; pod orders-2 is not ready\n",
		},
	})
}
