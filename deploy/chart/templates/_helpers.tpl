{{- define "shortener.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "shortener.metadata" -}}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "shortener.selector" . | nindent 2 }}
{{- end }}

{{- define "shortener.secret" -}}
{{ .Values.secrets.existing | default (printf "%s-secrets" .Release.Name) }}
{{- end }}

{{- define "shortener.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "shortener.database" -}}
{{ .Release.Name }}-database
{{- end }}

{{- /* Of every pod that runs the image; its account owns the volume. */}}
{{- define "shortener.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.pod }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "shortener.container" -}}
image: {{ include "shortener.image" . }}
envFrom:
  - configMapRef: {name: {{ .Release.Name }}}
  - secretRef: {name: {{ include "shortener.secret" . }}}
{{- if .Values.cloudnativepg.enabled }}
{{- $database := include "shortener.database" . }}
env:
  - name: DATABASE_URL
    valueFrom: {secretKeyRef: {name: {{ $database }}-app, key: uri}}
  # The operator generates it, of letters and digits.
  - name: DATABASE_PASSWORD
    valueFrom: {secretKeyRef: {name: {{ $database }}-app, key: password}}
  - name: REPORTS_DATABASE_URL
    value: postgres://shortener:$(DATABASE_PASSWORD)@{{ $database }}-ro:5432/shortener
  {{- if eq .Values.cloudnativepg.dataDurability "required" }}
  - {name: REQUIRE_SYNCHRONOUS, value: "yes"}
  {{- end }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: journal, mountPath: /var/lib/shortener}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "shortener.tmp" -}}
- name: tmp
  emptyDir: {medium: Memory, sizeLimit: 64Mi}
{{- end }}
