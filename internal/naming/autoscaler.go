/*
SPDX-License-Identifier: Apache-2.0
*/

package naming

import "k8s.io/apimachinery/pkg/runtime/schema"

// AutoscalerKind is the kind of VerticalPodAutoscalers.
var AutoscalerKind = schema.GroupVersionKind{Group: "autoscaling.k8s.io", Version: "v1", Kind: "VerticalPodAutoscaler"}
