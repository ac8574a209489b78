/*
SPDX-License-Identifier: Apache-2.0
*/

package naming

import "k8s.io/apimachinery/pkg/runtime/schema"

// CertManager is the API group of cert-manager.
const CertManager = "cert-manager.io"

// CertificateKind is the Certificate of cert-manager.
var CertificateKind = schema.GroupVersionKind{Group: CertManager, Version: "v1", Kind: "Certificate"}

// AnnotationCertificateName is on Secrets of cert-manager: the name of the Certificate.
const AnnotationCertificateName = CertManager + "/certificate-name"
