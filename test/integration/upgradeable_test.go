//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/operator-framework/api/crds"
	apiv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/conditions"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/olm"
)

const installedVersion, grantedByOLM = "databasecluster-operator.v0", "olm-grants-this-user-one-name"

// inOperatorCondition replaces the condition of operator-lib, which reads its name and namespace only in a pod.
type inOperatorCondition struct {
	client.Client
	namespace string
}

func (c inOperatorCondition) read(ctx context.Context) (*apiv2.OperatorCondition, error) {
	object := &apiv2.OperatorCondition{}
	return object, c.Client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: installedVersion}, object)
}

func (c inOperatorCondition) Get(ctx context.Context) (*metav1.Condition, error) {
	object, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	if condition := meta.FindStatusCondition(object.Spec.Conditions, apiv2.Upgradeable); condition != nil {
		return condition, nil
	}
	return nil, errors.New("the operator has not reported yet")
}

func (c inOperatorCondition) Set(ctx context.Context, status metav1.ConditionStatus, options ...conditions.Option) error {
	object, err := c.read(ctx)
	if err != nil {
		return err
	}
	condition := metav1.Condition{Type: apiv2.Upgradeable, Status: status}
	for _, option := range options {
		option(&condition)
	}
	meta.SetStatusCondition(&object.Spec.Conditions, condition)
	return c.Update(ctx, object)
}

// installOperatorCondition creates the objects of OLM: the CRD, one OperatorCondition for the version, and the right
// to that name only.
func installOperatorCondition(t *testing.T, ns string) (as *rest.Config, scheme *runtime.Scheme) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("DBC_TEST_KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	options := envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crds.OperatorCondition()}}
	if _, err := envtest.InstallCRDs(config, options); err != nil {
		t.Fatal(err)
	}
	scheme = runtime.NewScheme()
	if err := errors.Join(apiv2.AddToScheme(scheme), dbv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	if err := direct.Create(t.Context(), &apiv2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: installedVersion}}); err != nil {
		t.Fatal(err)
	}
	grantIn(t, ns, grantedByOLM, grantedByOLM, []rbacv1.PolicyRule{
		{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"operatorconditions"}, ResourceNames: []string{installedVersion}, Verbs: []string{"get", "update", "patch"}},
		{APIGroups: []string{dbv1.GroupVersion.Group}, Resources: []string{"databaseclusters"}, Verbs: []string{"list", "watch"}},
	})
	config.Impersonate = rest.ImpersonationConfig{UserName: grantedByOLM}
	return config, scheme
}

// keepUpgradeable starts an operator that only reports to OLM, at a given time of its clock.
func keepUpgradeable(t *testing.T, as *rest.Config, scheme *runtime.Scheme, ns string, at time.Time) (stop func(), condition inOperatorCondition) {
	t.Helper()
	again := true
	mgr, err := ctrl.NewManager(as, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		Controller: ctrlconfig.Controller{SkipNameValidation: &again},
	})
	if err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(as, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	condition = inOperatorCondition{direct, ns}
	keeper := olm.Upgradeable{Clusters: mgr.GetClient(), Condition: condition, Clock: clocktesting.NewFakePassiveClock(at), Log: logr.Discard()}
	if err := keeper.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			t.Errorf("the operator stopped: %v", err)
		}
	})
	stop = func() { cancel(); done.Wait() }
	t.Cleanup(stop)
	return stop, condition
}

func (c inOperatorCondition) await(t *testing.T, status metav1.ConditionStatus, reason string) {
	t.Helper()
	eventually(t, fmt.Sprintf("Upgradeable=%s (%s)", status, reason), func() error {
		got, err := c.Get(t.Context())
		if err == nil && (got.Status != status || got.Reason != reason) {
			err = fmt.Errorf("the condition is %+v", got)
		}
		return err
	})
}

func TestOLMDelaysAnUpgradeDuringARestoreForFifteenMinutesAtMost(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	as, scheme := installOperatorCondition(t, ns)
	stop, condition := keepUpgradeable(t, as, scheme, ns, time.Now().Add(time.Minute))
	condition.await(t, metav1.ConditionTrue, olm.ReasonNothingInFlight)

	kubelet := startRestores(t, ns)
	cluster := smallest(ns, "orders")
	fromLocation(restorer(t), firstBackup)(cluster)
	create(t, cluster)
	awaitFilling(t, cluster, firstBackup)
	condition.await(t, metav1.ConditionFalse, olm.ReasonRestoreInFlight)

	// The operator restarts and knows the wait only from the OperatorCondition.
	stop()
	stop, condition = keepUpgradeable(t, as, scheme, ns, time.Now().Add(olm.BlockedAtMost/2))
	defer stop()
	condition.await(t, metav1.ConditionFalse, olm.ReasonRestoreInFlight)
	stop()
	stop, condition = keepUpgradeable(t, as, scheme, ns, time.Now().Add(olm.BlockedAtMost+2*time.Minute))
	defer stop()
	condition.await(t, metav1.ConditionTrue, olm.ReasonBlockedLongEnough)
	kubelet.message.Store(succeeds)
	awaitReady(t, cluster)
	condition.await(t, metav1.ConditionTrue, olm.ReasonNothingInFlight)
}
