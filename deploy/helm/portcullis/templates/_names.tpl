{{- define "portcullis.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The name of a component's objects. Arguments: root, component. */}}
{{- define "portcullis.componentName" -}}
{{- printf "%s-%s" (include "portcullis.fullname" .root) .component -}}
{{- end -}}

{{/* The labels that all pods of the release have. */}}
{{- define "portcullis.releaseLabels" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end -}}

{{- define "portcullis.selectorLabels" -}}
{{ include "portcullis.releaseLabels" . }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "portcullis.labels" -}}
{{ include "portcullis.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: portcullis
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_") }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The name and the labels of an object. Arguments: root, component, and optionally suffix. */}}
{{- define "portcullis.metadata" -}}
name: {{ include "portcullis.componentName" . }}{{ with .suffix }}-{{ . }}{{ end }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "portcullis.labels" . | nindent 2 }}
{{- end -}}

{{- define "portcullis.image" -}}
{{- $image := (index .root.Values .component).image -}}
{{- $path := printf "%s/%s" (trimSuffix "/" .root.Values.image.registry) $image.repository -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $path $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $path (default .root.Chart.AppVersion .root.Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The Secret with the variables of a component; empty if it has none. */}}
{{- define "portcullis.secretName" -}}
{{- $values := index .root.Values .component -}}
{{- if $values.existingSecret -}}
{{- $values.existingSecret -}}
{{- else if $values.secret -}}
{{- include "portcullis.componentName" . -}}
{{- end -}}
{{- end -}}
