/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

const (
	// engineName is an engine whose members have data of their own.
	engineName = "anydb-v1"
	// otherEngine identifies itself to its containers with engineVariable.
	otherEngine    = "otherdb-v1"
	engineVariable = "ENGINE"
)
