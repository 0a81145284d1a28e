import { constants } from 'node:os'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  integer,
  type Settings,
} from '@portcullis/service-kit/settings/env'
import { checkDuration, oneDay, oneHour } from './checks.ts'
import { withOldNames } from './variables.ts'

export const reloading = {
  title: 'Reloading without a restart',
  variables: withOldNames({
    notifyEnabled: boolean(
      'AUTH_RELOADING_NOTIFY_ENABLED',
      true,
      'Whether the server watches its configuration files and applies changes without a restart',
    ),
    pollerEnabled: boolean(
      'AUTH_RELOADING_POLLER_ENABLED',
      false,
      'Whether the files are also read periodically, for file systems that do not report changes',
      // GoTrue does not separate these two words.
      { aliases: ['AUTH_RELOADING_POLLERENABLED', 'GOTRUE_RELOADING_POLLERENABLED'] },
    ),
    pollerIntervalMs: duration(
      'AUTH_RELOADING_POLLER_INTERVAL',
      '10s',
      'Interval at which the files are read',
    ),
    signalEnabled: boolean(
      'AUTH_RELOADING_SIGNAL_ENABLED',
      false,
      'Whether the signal AUTH_RELOADING_SIGNAL_NUMBER reloads the configuration; SIGHUP always does',
    ),
    signalNumber: integer(
      'AUTH_RELOADING_SIGNAL_NUMBER',
      10,
      'Number of that signal; on Linux, 10 is SIGUSR1',
    ),
    gracePeriodMs: duration(
      'AUTH_RELOADING_GRACE_PERIOD_INTERVAL',
      '5s',
      'How long to wait after a change of a file, so that further changes are read together with it',
    ),
  }),
} satisfies Chapter

export interface ReloadingConfig {
  readonly notifyEnabled: boolean
  readonly pollerEnabled: boolean
  readonly pollerIntervalMs: number
  /** A signal that reloads the configuration in addition to SIGHUP, if one is configured. */
  readonly signal: NodeJS.Signals | undefined
  readonly gracePeriodMs: number
}

/** Signals that a process cannot handle, or that already have another meaning. */
const reserved: ReadonlySet<string> = new Set([
  'SIGKILL',
  'SIGSTOP',
  'SIGTERM',
  'SIGINT',
  'SIGPROF',
  'SIGSEGV',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGCHLD',
  'SIGPIPE',
])

export function toReloading(
  settings: Settings<typeof reloading.variables>,
  check: Check,
): ReloadingConfig {
  const { variables } = reloading
  const { signalEnabled, signalNumber, ...rest } = settings
  checkDuration(variables.pollerIntervalMs, settings.pollerIntervalMs, oneDay, check)
  checkDuration(variables.gracePeriodMs, settings.gracePeriodMs, oneHour, check)
  if (settings.pollerIntervalMs < 100) {
    check.fault(variables.pollerIntervalMs, 'must be at least 100ms')
  }
  const signal = toSignal(signalNumber)
  if (signalEnabled && signal === undefined) {
    const known = ['SIGUSR1', 'SIGUSR2'] as const
    const numbers = known.map((name) => `${constants.signals[name]} (${name})`).join(' or ')
    const message = `must be the number of a signal that the server can receive, such as ${numbers}`
    check.fault(variables.signalNumber, message)
  }
  return { ...rest, signal: signalEnabled ? signal : undefined }
}

function toSignal(number: number): NodeJS.Signals | undefined {
  const names = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  const [name] = names.find(([each, value]) => value === number && !reserved.has(each)) ?? []
  return name
}
