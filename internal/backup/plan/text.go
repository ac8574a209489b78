/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import "fmt"

// size formats a number of bytes, such as 1.2 GiB.
func size(bytes int64) string { return scaled(float64(bytes)) }

// rate formats a number of bytes per second, such as 85.0 MiB/s.
func rate(bytesPerSecond float64) string { return scaled(bytesPerSecond) + "/s" }

func scaled(value float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	unit := 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%.0f B", value)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
