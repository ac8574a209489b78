/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"fmt"
	"os"

	"github.com/go-logr/logr"
	apiv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/conditions"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/olm"
)

// operatorConditionName is set only by OLM v0. Without it, as with OLM v1, Helm and plain manifests, no condition
// is needed.
const operatorConditionName = "OPERATOR_CONDITION_NAME"

// declareUpgradeable reports to OLM whether the operator can be upgraded. An error there does not stop the
// management of databases.
func declareUpgradeable(mgr ctrl.Manager, log logr.Logger) error {
	if os.Getenv(operatorConditionName) == "" {
		return nil
	}
	condition, err := upgradeable(mgr)
	if err != nil {
		log.Error(err, "cannot report to OLM whether the operator can be upgraded; OLM assumes that it can")
		return nil
	}
	keeper := olm.Upgradeable{Clusters: mgr.GetClient(), Condition: condition, Clock: clock.RealClock{}, Log: log}
	return keeper.SetupWithManager(mgr)
}

// upgradeable is the condition in the OperatorCondition that OLM created for this version. OLM grants get, update
// and patch on that object only, so the client does not use a cache, which would list and watch.
func upgradeable(mgr ctrl.Manager) (conditions.Condition, error) {
	scheme := runtime.NewScheme()
	if err := apiv2.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register OperatorCondition: %w", err)
	}
	direct, err := client.New(mgr.GetConfig(), client.Options{Scheme: scheme, HTTPClient: mgr.GetHTTPClient()})
	if err != nil {
		return nil, fmt.Errorf("create a client for the OperatorCondition: %w", err)
	}
	condition, err := conditions.InClusterFactory{Client: direct}.NewCondition(apiv2.ConditionType(apiv2.Upgradeable))
	if err != nil {
		return nil, fmt.Errorf("find the OperatorCondition: %w", err)
	}
	return condition, nil
}
