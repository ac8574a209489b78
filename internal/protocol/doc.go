/*
SPDX-License-Identifier: Apache-2.0
*/

// Package protocol defines the interface between the operator and transfer, the program in its Jobs.
//
//	operator -> transfer   the arguments of a call, and the files of the Secrets that it reads   call.go, store.go
//	transfer -> operator   the exit code and the reason of a failure                             exit.go, reason.go
//	                       the result, which is the termination message of the container         result.go
//	                       the progress and the answers, which are lines of the log              log.go
//	transfer -> transfer   the manifest and the names of objects at the destination              manifest.go, names.go
//	                       the mark in a data directory                                          mark.go
//
// Each is a type with its encoding and its decoding. The operator, transfer and the simulation use the same types. A
// Job may run an older transfer than the operator that reads its result. Backups and marks are older still. Fields are
// only added, and a missing field has its zero value.
package protocol
