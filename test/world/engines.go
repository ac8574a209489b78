/*
SPDX-License-Identifier: Apache-2.0
*/

package world

const (
	// AnyEngine is an engine whose members have data of their own.
	AnyEngine = "anydb-v1"
	// OtherEngine identifies itself to its containers with engineVariable.
	OtherEngine = "otherdb-v1"
	// EngineVariable tells a container its engine.
	EngineVariable = "ENGINE"
)
