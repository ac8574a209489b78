/*
SPDX-License-Identifier: Apache-2.0
*/

package preview

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// effects are what the operator does for a request, with the member that it names. A restart is a change of the pod template.
var effects = map[dbv1.ClusterRequestType]string{
	dbv1.RequestHandOver:          "Member MEMBER becomes the primary. Connections to the current primary end.",
	dbv1.RequestRebuild:           "The operator deletes the volume of member MEMBER, which then copies the data of the others.",
	dbv1.RequestRefresh:           "The operator reads the Secrets and ConfigMaps of the spec again.",
	dbv1.RequestRotateCredentials: "The operator replaces the generated passwords, and then updates the connection Secret.",
}

// requested is what happens because of annotations that are new or have another value.
func requested(before, after *situation.Situation, decided operation.List) []string {
	var all []string
	for _, kind := range situation.RequestTypes {
		value, effect := after.Asked(kind), effects[kind]
		if value == "" || value == before.Asked(kind) || effect == "" {
			continue
		}
		member, _, _ := strings.Cut(value, "/")
		effect = strings.ReplaceAll(effect, "MEMBER", member)
		if why := refusal(kind, after, decided); why != "" {
			effect = fmt.Sprintf("The operator refuses the request %s: %s.", kind, why)
		} else if after.Cluster.Spec.Hibernated && kind != dbv1.RequestRefresh {
			effect = fmt.Sprintf("The request %s waits until you wake the cluster.", kind)
		}
		all = append(all, effect)
	}
	renewal := after.Declared.Annotations[dbv1.AnnotationRenewCertificate]
	if renewal != before.Declared.Annotations[dbv1.AnnotationRenewCertificate] && after.SelfSigned() {
		all = append(all, "The operator renews the certificate, and the members load it.")
	}
	return all
}

// refusal is why the operator does not execute a request; "" if it does.
func refusal(kind dbv1.ClusterRequestType, s *situation.Situation, decided operation.List) string {
	if kind == dbv1.RequestRotateCredentials && !s.GeneratesCredentials() {
		return "it generates no passwords for this cluster"
	}
	for _, o := range decided {
		record, is := o.(operation.Record)
		if is && record.Request != nil && record.Request.Type == kind && record.Request.State == dbv1.RequestRefused {
			return record.Request.Message
		}
	}
	return ""
}
