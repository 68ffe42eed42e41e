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
env:
  - name: DATABASE_URL
    valueFrom: {secretKeyRef: {name: {{ include "shortener.database" . }}-app, key: uri}}
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
