import { parseArgs } from 'node:util'
import {
  parseOrExplain,
  toValueFault,
  toVerbFault,
} from '@portcullis/service-kit/cli/argument-faults'
import { parseDuration } from '@portcullis/service-kit/settings/duration'
import type { OptionTable } from '../completion/option-table.ts'
import type { EventSearch } from '../console/events/read-events.ts'
import { actionChoices, reasonChoices } from '../web/audit-sentences.ts'
import { dataMeaning } from './find-data-folder.ts'
import { keyVariable, parseBaseUrl, readServiceKey } from './server-arguments.ts'

export interface TailArguments {
  readonly search: EventSearch
  /** Whether `--since` was given, so that all events since then are printed. */
  readonly hasStart: boolean
  readonly isFollowing: boolean
  readonly isJson: boolean
  readonly data: string | undefined
  /** If undefined, events are read from the auth server of the `up` that uses the folder. */
  readonly server: { readonly url: string; readonly key: string } | undefined
}

/** The number of events that are printed first without `--since`. */
export const newestCount = 20

/** Every option of `events tail`. Its help text, its completion and its parser are derived from this table. */
export const tailOptions = {
  user: {
    value: 'USER',
    meaning: 'only events of this user: an email address, a phone number or an id',
  },
  address: { value: 'IP', meaning: 'only events from this IP address' },
  failed: { meaning: 'only failed sign-ins' },
  reason: {
    value: 'REASON',
    meaning: 'only sign-ins that failed for this reason, such as wrong_password',
    kind: { choices: reasonChoices.map(({ name }) => name) },
  },
  action: {
    value: 'ACTION',
    meaning: 'only this action, such as login or user_deleted',
    kind: { choices: actionChoices.map(({ name }) => name) },
  },
  tokens: { meaning: 'include token refreshes and revocations' },
  since: {
    value: 'TIME',
    meaning: `print all events since this time: 15m, 24h or 7d ago, or 2026-03-04T00:00:00Z; default: only the newest ${newestCount}`,
  },
  'no-follow': { meaning: 'print the stored events and exit, without waiting for new ones' },
  json: { meaning: 'print each event as a JSON object on one line' },
  data: {
    value: 'DIR',
    meaning: dataMeaning,
    kind: 'directory',
  },
  'auth-url': { value: 'URL', meaning: 'base URL of another auth server' },
  'auth-key': {
    value: 'KEY',
    meaning: `service key of that server; prefer ${keyVariable}, since other users of this machine can read command lines`,
  },
} as const satisfies OptionTable

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i

/**
 * @param args The verb and its options, in any order.
 * @returns the arguments, or every error in them.
 */
export function parseTailArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  now = Date.now(),
): TailArguments | { readonly faults: readonly string[] } {
  const parsed = parseOrExplain(() => parse(args))
  if (typeof parsed === 'string') return { faults: [parsed] }
  const { values, positionals } = parsed
  const [verb, other] = positionals
  const faults: string[] = []
  if (verb !== 'tail') faults.push(toVerbFault(verb, ['tail']))
  else if (other !== undefined) {
    faults.push(`Unexpected argument ${JSON.stringify(other)}: tail takes only options.`)
  }
  const text = (name: keyof typeof tailOptions) => {
    const value = values[name]
    return typeof value === 'string' ? value : undefined
  }
  const { user, address, reason, action, since } = {
    user: text('user'),
    address: text('address'),
    reason: text('reason'),
    action: text('action'),
    since: text('since'),
  }
  const from = since === undefined ? undefined : parseSince(since, now)
  if (since !== undefined && from === undefined) {
    faults.push(
      toValueFault(
        '--since',
        'a duration such as 15m, or a time such as 2026-03-04T00:00:00Z',
        since,
      ),
    )
  }
  const server = parseServer(text('auth-url'), text('auth-key'), env, faults)
  if (faults.length > 0) return { faults }
  return {
    search: {
      ...(user !== undefined && { [uuid.test(user) ? 'user' : 'name']: user }),
      ...(address !== undefined && { address }),
      ...(reason !== undefined && { reason }),
      ...(action !== undefined && { action }),
      ...(values['failed'] === true && { failed: 'true' }),
      ...(values['tokens'] === true && { tokens: 'true' }),
      ...(from !== undefined && { from }),
    },
    hasStart: from !== undefined,
    isFollowing: values['no-follow'] !== true,
    isJson: values['json'] === true,
    data: text('data'),
    server,
  }
}

function parse(args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(tailOptions).map(([name, row]) => [
      name,
      { type: 'value' in row ? ('string' as const) : ('boolean' as const) },
    ]),
  )
  return parseArgs({ args: [...args], options, allowPositionals: true })
}

/** Days are not part of a duration, but people write `7d`. */
function parseSince(text: string, now: number): string | undefined {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? []
  const ago = days === undefined ? parseDuration(text) : Number(days) * 86_400_000
  if (ago !== undefined) return new Date(Math.max(0, now - ago)).toISOString()
  const time = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/.test(text)
    ? new Date(text)
    : undefined
  return time === undefined || Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

function parseServer(
  url: string | undefined,
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  faults: string[],
): TailArguments['server'] {
  if (url === undefined) {
    if (option !== undefined) faults.push('--auth-key needs --auth-url.')
    return undefined
  }
  return {
    url: parseBaseUrl('--auth-url', url, faults) ?? '',
    key: readServiceKey(option, env, faults),
  }
}
