import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  port,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { checkHost } from './checks.ts'
import { unlessBlank, withOldNames } from './variables.ts'

export const profiler = {
  title: 'Profiler',
  variables: withOldNames({
    enabled: boolean(
      'AUTH_PROFILER_ENABLED',
      false,
      'Whether CPU and heap profiles are served at /debug/pprof/, in the format of go tool pprof',
    ),
    host: unlessBlank(
      string('AUTH_PROFILER_HOST', 'localhost', 'Address on which profiles are served'),
    ),
    port: port(
      'AUTH_PROFILER_PORT',
      9_998,
      'Port on which profiles are served; each further worker uses the next port',
    ),
  }),
} satisfies Chapter

export interface ProfilerConfig {
  readonly host: string
  readonly port: number
}

const loopback = /^(?:localhost|127\..*|::1)$/

/** Returns undefined if no profiles are served. */
export function toProfiler(
  settings: Settings<typeof profiler.variables>,
  check: Check,
): ProfilerConfig | undefined {
  const { variables } = profiler
  const host = settings.host.trim()
  checkHost(variables.host, host, check)
  if (!settings.enabled) return undefined
  if (!loopback.test(host)) {
    check.note(
      `${check.nameOf(variables.host)} is ${host}: anyone who can reach it can slow the server down and read the names of its functions`,
    )
  }
  return { host, port: settings.port }
}
