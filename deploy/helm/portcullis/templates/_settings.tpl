{{/*
The variables that the chart sets itself, because ports, probes and grace periods depend on them. They are part of the
pod template, so that a change restarts the pods.
*/}}
{{- define "portcullis.auth.ownSettings" -}}
AUTH_API_PORT: "8081"
AUTH_DB_DRIVER: postgres
AUTH_DRAIN_TIMEOUT: {{ .Values.auth.drainSeconds }}s
AUTH_METRICS_ENABLED: "true"
AUTH_METRICS_EXPORTER: prometheus
AUTH_OTEL_EXPORTER_PULL_PORT: "9100"
# Each worker would serve its metrics on a separate port, so one process per pod is used.
AUTH_WORKERS: "1"
{{- end -}}

{{- define "portcullis.ratelimit.ownSettings" -}}
BACKEND_TYPE: {{ .Values.ratelimit.store }}
# Only the console needs to reach the debug port from outside the pod.
DEBUG_HOST: {{ ternary "0.0.0.0" "127.0.0.1" .Values.console.enabled | quote }}
DEBUG_PORT: "6070"
DRAIN_DELAY: {{ .Values.ratelimit.drainDelaySeconds }}s
DRAIN_TIMEOUT: {{ .Values.ratelimit.drainSeconds }}s
GRPC_PORT: "8081"
HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: "true"
PORT: "8080"
PROMETHEUS_ADDR: ":9090"
PROMETHEUS_PATH: /metrics
USE_PROMETHEUS: "true"
USE_STATSD: "false"
WORKERS: {{ .Values.ratelimit.workers | quote }}
{{- end -}}

{{/* The entries of a container's env. Fails if config contains a variable that the chart sets. */}}
{{- define "portcullis.ownEnv" -}}
{{- $own := include (printf "portcullis.%s.ownSettings" .component) .root | fromYaml -}}
{{- $config := (index .root.Values .component).config -}}
{{- range $name, $value := $own }}
{{- if hasKey $config $name }}
{{- fail (printf "%s.config.%s cannot be set, because the chart sets it. Remove it; the chart's README.md lists the values to use instead." $.component $name) }}
{{- end }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* The Secret as variables of a container. */}}
{{- define "portcullis.secretEnvFrom" -}}
{{- with include "portcullis.secretName" . }}
- secretRef:
    name: {{ . }}
{{- end }}
{{- end -}}

{{/* The content of the file that auth reads its settings from. */}}
{{- define "portcullis.auth.settingsFile" -}}
{{- range $name := list "AUTH_SITE_URL" "AUTH_API_EXTERNAL_URL" }}
{{- $_ := required (printf "auth.config.%s is required. Set it, for example to https://www.example.com." $name) (index $.Values.auth.config $name) }}
{{- end }}
{{- range $name, $value := .Values.auth.config }}
{{ $name }}={{ $value | quote }}
{{- end }}
{{- end -}}

{{/* Fails if values contradict each other. */}}
{{- define "portcullis.check" -}}
{{- $auth := .Values.auth -}}
{{- if and $auth.enabled (not (include "portcullis.secretName" (dict "root" . "component" "auth"))) -}}
{{- $_ := required "auth.existingSecret is required: the name of a Secret with AUTH_DB_DATABASE_URL, AUTH_SECRETS_KEY, and AUTH_JWT_SECRET or AUTH_JWT_KEYS. To let the chart create the Secret, set auth.secret instead." "" -}}
{{- end -}}
{{- $ratelimit := .Values.ratelimit -}}
{{- if $ratelimit.enabled -}}
{{- if and (eq $ratelimit.store "memory") (or $ratelimit.autoscaling.enabled (gt (int $ratelimit.replicas) 1) (gt (int $ratelimit.workers) 1)) -}}
{{- fail "ratelimit.store is memory, so every process would allow the whole limit. Set ratelimit.replicas and ratelimit.workers to 1 and disable ratelimit.autoscaling, or set ratelimit.store to redis." -}}
{{- end -}}
{{- $addresses := dict
  "redis" (list "KVSTORE_URL" "REDIS_URL")
  "memcache" (list "DISTCACHE_HOST_PORT" "MEMCACHE_HOST_PORT" "DISTCACHE_SRV" "MEMCACHE_SRV") -}}
{{- if hasKey $addresses $ratelimit.store -}}
{{- $names := get $addresses $ratelimit.store -}}
{{- /* The content of an existing Secret is not known here. */ -}}
{{- $hasAddress := not (empty $ratelimit.existingSecret) -}}
{{- range $name := $names -}}
{{- if or (get $ratelimit.config $name) (get $ratelimit.secret $name) -}}
{{- $hasAddress = true -}}
{{- end -}}
{{- end -}}
{{- if not $hasAddress -}}
{{- $_ := required (printf "ratelimit.config.%s is required, because ratelimit.store is %s. Set it to the host:port of the store, or put it into ratelimit.existingSecret or ratelimit.secret." (first $names) $ratelimit.store) "" -}}
{{- end -}}
{{- end -}}
{{- if not (or $ratelimit.rules $ratelimit.existingRulesConfigMap) -}}
{{- $_ := required "ratelimit.rules is required: at least one rule file. To use an existing ConfigMap, set ratelimit.existingRulesConfigMap instead." "" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.console.enabled $auth.enabled (not (include "portcullis.secretName" (dict "root" . "component" "console"))) -}}
{{- $_ := required "console.existingSecret is required: the name of a Secret with PORTCULLIS_AUTH_KEY. To let the chart create the Secret, set console.secret instead." "" -}}
{{- end -}}
{{- end -}}
