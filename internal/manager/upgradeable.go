/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	apiv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

// operatorConditionName is set by OLM v0 alone. OLM v1, Helm and plain manifests do not set it, which
// means: nobody asks.
const operatorConditionName = "OPERATOR_CONDITION_NAME"

// declareUpgradeable tells OLM that the operator may be upgraded. OLM grants get, update and patch on
// one object only, so the client does not cache: a cache would list and watch.
func declareUpgradeable(mgr ctrl.Manager, log logr.Logger) error {
	if os.Getenv(operatorConditionName) == "" {
		return nil
	}
	scheme := mgr.GetScheme()
	if err := apiv2.AddToScheme(scheme); err != nil {
		return fmt.Errorf("register OperatorCondition: %w", err)
	}
	direct, err := client.New(mgr.GetConfig(), client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("make a client for the OperatorCondition: %w", err)
	}
	condition, err := conditions.InClusterFactory{Client: direct}.NewCondition(apiv2.ConditionType(apiv2.Upgradeable))
	if err != nil {
		return fmt.Errorf("find the OperatorCondition: %w", err)
	}
	return mgr.Add(ctrlmanager.RunnableFunc(func(ctx context.Context) error {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			return condition.Set(ctx, metav1.ConditionTrue,
				conditions.WithReason("NothingInFlight"), conditions.WithMessage("no operation is in flight that an upgrade would cut"))
		})
		if err != nil { // an upgrade that OLM holds back is no reason to stop looking after databases
			log.Error(err, "could not tell OLM that the operator may be upgraded")
		}
		return nil
	}))
}
