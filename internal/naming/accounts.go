/*
SPDX-License-Identifier: Apache-2.0
*/

package naming

const (
	// ObjectsVolume is, in the pods of the Jobs that make databases and users, the name of the volume with their declaration.
	ObjectsVolume = "dbc-objects"
	// ObjectsPath is the path of that volume.
	ObjectsPath = "/dbc/objects"
)

// ObjectsJob is the name of a Job that makes databases and users, and of its Secret.
func ObjectsJob(cluster, content string) string { return cluster + "-objects-" + digest(content) }

// User is the name of the Secret of a DatabaseUser.
func User(user string) string { return user + "-user" }
