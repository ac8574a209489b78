/*
SPDX-License-Identifier: Apache-2.0
*/

package world

const (
	// AnyEngine is an engine whose members have data of their own.
	AnyEngine = "anydb-v1"
	// OtherEngine identifies itself to its containers with engineVariable.
	OtherEngine = "otherdb-v1"
	// EngineVariable has the engine of a container.
	EngineVariable = "ENGINE"
)
