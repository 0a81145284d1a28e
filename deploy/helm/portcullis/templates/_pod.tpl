{{/* The fields of a pod that are the same for all components. Arguments: root, component. */}}
{{- define "portcullis.podFields" -}}
{{- $values := index .root.Values .component -}}
automountServiceAccountToken: false
# With service links, Kubernetes would set variables such as REDIS_PORT, which the programs would read as settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "portcullis.topologySpread" -}}
{{- $values := index .root.Values .component -}}
topologySpreadConstraints:
{{- if $values.topologySpreadConstraints }}
  {{- toYaml $values.topologySpreadConstraints | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "portcullis.selectorLabels" . | nindent 8 }}
{{- end }}
{{- end -}}

{{- define "portcullis.podLabels" -}}
{{ include "portcullis.labels" . }}
{{- with (index .root.Values .component).podLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The fields of a container that are the same for all components. */}}
{{- define "portcullis.containerFields" -}}
image: {{ include "portcullis.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}
