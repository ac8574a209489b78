/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"fmt"
	"regexp"
	"strconv"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// FitParameters sets the defaults of the parameters of an effective cluster that depend on the size of its data volumes, in bytes. The
// volumes may be smaller than the spec while they grow. So the hash of the configuration changes when they have grown.
//
// An engine without the action configure declares the default "" instead, and its start script computes the value from the volume. A fixed
// default would be accepted on a volume on which it does not fit, also if a cluster sets it. Where a default of a small volume is less than
// the database accepts, the script raises it.
func FitParameters(resolved, cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, storage int64) {
	if declared != nil {
		resolved.Spec.Parameters = parameters(cluster.Spec.Parameters, &declared.Spec, storage)
	}
}

// defaultOf is the default of a parameter for data volumes of this size.
func defaultOf(parameter dbv1.EngineParameter, storage int64) string {
	size, known := bytesOf(parameter.Default)
	if parameter.Storage == nil || parameter.Storage.DefaultPercent == 0 || storage == 0 || !known {
		return parameter.Default
	}
	bound := storage / 100 * int64(parameter.Storage.DefaultPercent)
	if size <= bound {
		return parameter.Default
	}
	if sized.FindStringSubmatch(parameter.Default)[2] == "" {
		return strconv.FormatInt(bound, 10)
	}
	return fmt.Sprintf("%dMB", max(1, bound/units["MB"]))
}

// tooLargeFor reports a value that a cluster sets and that does not fit on the data volume.
func tooLargeFor(cluster *dbv1.DatabaseCluster, parameter dbv1.EngineParameter, value string) string {
	size, known := bytesOf(value)
	storage := cluster.Spec.Storage.Size
	if parameter.Storage == nil || parameter.Storage.MaxPercent == 0 || storage.IsZero() || !known ||
		value == defaultOf(parameter, storage.Value()) {
		return ""
	}
	if size <= storage.Value()/100*int64(parameter.Storage.MaxPercent) {
		return ""
	}
	return fmt.Sprintf("spec.parameters[%s] is %s, but must be at most %d%% of spec.storage.size, which is %s: lower the parameter, or "+
		"raise spec.storage.size",
		parameter.Name, value, parameter.Storage.MaxPercent, storage.String())
}

var (
	sized = regexp.MustCompile(`^([0-9]{1,15})(kB|MB|GB|TB)?$`)
	units = map[string]int64{"": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
)

// bytesOf returns the size that a value names. One that is too large for an integer is as large as possible.
func bytesOf(value string) (size int64, known bool) {
	parts := sized.FindStringSubmatch(value)
	if parts == nil {
		return 0, false
	}
	number, err := strconv.ParseInt(parts[1], 10, 64)
	unit := units[parts[2]]
	if err != nil || number > (1<<62)/unit {
		return 1 << 62, true
	}
	return number * unit, true
}
