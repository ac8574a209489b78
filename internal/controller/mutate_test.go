/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import "github.com/dbcluster/databasecluster-operator/internal/testing/mutate"

var mutations = mutate.Each
