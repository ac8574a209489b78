/*
SPDX-License-Identifier: Apache-2.0
*/

package subject

import (
	"context"
	"io"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Acting is an operation of a subject that needs more than a write of what was decided: random values, a private key, or the response
// to a request.
type Acting interface {
	operation.Operation
	Act(context.Context, Hands) ([]kit.Event, error)
}

// Hands are what an acting operation may use.
type Hands struct {
	Cluster *dbv1.DatabaseCluster
	Writer  apply.Writer
	// Live reads from the API server.
	Live client.Reader
	// Random is the source of generated passwords.
	Random io.Reader
	// At is the time of the pass.
	At time.Time
}
