{{/* The prefix of every name. Helm itself rejects releases with equal names. */}}
{{- define "operator.fullname" -}}
{{- $name := .Release.Name -}}
{{- if .Values.fullnameOverride -}}
{{- $name = .Values.fullnameOverride -}}
{{- else if not (contains .Chart.Name .Release.Name) -}}
{{- $name = printf "%s-%s" .Release.Name .Chart.Name -}}
{{- end -}}
{{- if regexMatch "^[0-9]" $name -}}
{{- fail (printf "The name of release %q begins with a digit, but the name of a Service must not: set fullnameOverride." .Release.Name) -}}
{{- end -}}
{{- $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The selector labels of the operator's pods. They never change. */}}
{{- define "operator.selector" -}}
control-plane: controller-manager
app.kubernetes.io/name: databasecluster-operator
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "operator.labels" -}}
{{ include "operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "operator.serviceAccount" -}}
{{- if .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.name -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "operator.fullname" . }}-controller-manager
{{- else -}}
{{- fail "serviceAccount.create is false and serviceAccount.name is empty: set serviceAccount.name to the ServiceAccount of the operator." -}}
{{- end -}}
{{- end -}}

{{- define "operator.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default (printf "v%s" $.Chart.AppVersion) }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The rules of config/rbac, by their name there. */}}
{{- define "operator.rules" -}}
{{- $file := printf "files/rules/%s.yaml" .name -}}
{{- required (printf "The chart lacks %s: run `make chart`." $file) (.root.Files.Get $file) -}}
{{- end -}}

{{- define "operator.subject" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "operator.serviceAccount" . | quote }}
  namespace: {{ .Release.Namespace | quote }}
{{- end -}}

{{/* Rejects a flag, or its environment variable, that another value of the chart sets. Two settings would contradict each other. */}}
{{- define "operator.refuse" -}}
{{- $ours := dict
  "leader-elect" "it is always on, because only one replica must work at a time"
  "leader-election-namespace" "the Role for the lease is in the namespace of the release"
  "watch-namespace" "set watchNamespaces, which also sets the operator's permissions"
  "transfer-image" "set image"
  "install-engines" "set installEngines"
  "install-admission-policies" "set admissionPolicies.install"
  "metrics-bind-address" "set metrics.enabled"
  "health-probe-bind-address" "the probes of the pod rely on it" -}}
{{- with get $ours .flag -}}
{{- fail (printf "%s has %q, which the chart itself sets: %s." $.value $.given .) -}}
{{- end -}}
{{- end -}}
