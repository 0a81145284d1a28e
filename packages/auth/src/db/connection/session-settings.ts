import type { ClientBase } from 'pg'

/** Settings that our statements rely on, by name. The values contain no spaces. */
export type SessionSettings = Readonly<Record<string, string>>

interface SessionNeeds {
  /** 0: unlimited. */
  readonly statementTimeoutMs: number
  readonly more: SessionSettings
}

export function toSessionSettings({ statementTimeoutMs, more }: SessionNeeds): SessionSettings {
  return {
    TimeZone: 'UTC',
    DateStyle: 'ISO,MDY',
    // Our statements are short, so JIT compilation takes longer than running them.
    jit: 'off',
    ...(statementTimeoutMs > 0 && {
      statement_timeout: `${Math.ceil(statementTimeoutMs)}`,
      // Otherwise a process that disappears during a transaction would keep its locks.
      idle_in_transaction_session_timeout: `${Math.ceil(statementTimeoutMs)}`,
    }),
    ...more,
  }
}

/**
 * Options for the start of a connection. Later options override earlier ones, so ours override
 * those of the URL.
 */
export function toStartupOptions(ofUrl: string, settings: SessionSettings): string {
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  return [ofUrl.trim(), ...ours].filter((part) => part !== '').join(' ')
}

/**
 * Sets the settings for the current transaction only. Behind a pooler, another server process may
 * run the next transaction, where settings of the session would be missing.
 */
export function toLocalSettings(settings: SessionSettings): string {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', '${value}', true)`,
  )
  return `select ${calls.join(', ')}`
}

/** Facts about a connection that are read when it is opened. */
export interface ConnectionFacts {
  /**
   * Whether our settings are in effect and the connection leads directly to PostgreSQL. Otherwise
   * there is a pooler, which may assign each transaction to another server process.
   */
  readonly isOwn: boolean
  /** Whether transactions start with these settings, so that nothing has to be set. */
  readonly isSetUp: boolean
  readonly isStandby: boolean
  readonly isReadOnly: boolean
}

interface FactRow {
  readonly pid: number
  readonly is_standby: boolean
  readonly is_read_only: boolean
  readonly settings: readonly (string | null)[]
}

/** Takes one round trip when a connection is opened, and none afterwards. */
export async function readConnectionFacts(
  client: ClientBase,
  settings: SessionSettings,
): Promise<ConnectionFacts> {
  const names = Object.keys(settings)
  const found = names.map((name) =>
    name.endsWith('_timeout')
      ? // PostgreSQL shows ten thousand milliseconds as `10s`.
        `(extract(epoch from current_setting('${name}')::interval) * 1000)::bigint::text`
      : `current_setting('${name}', true)`,
  )
  const { rows } = await client.query<FactRow>(
    `select pg_backend_pid() as pid, pg_is_in_recovery() as is_standby,
       current_setting('transaction_read_only') = 'on' as is_read_only,
       array[${found.join(', ')}]::text[] as settings`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('PostgreSQL returned no facts about the connection')
  const isSetUp = names.every((name, index) => isSame(settings[name], row.settings[index]))
  // A pooler has no fixed process of PostgreSQL, so it sends a process id that it has chosen.
  const isDirect = 'processID' in client && client.processID === row.pid
  return {
    isOwn: isDirect && isSetUp,
    isSetUp,
    isStandby: row.is_standby,
    isReadOnly: row.is_read_only,
  }
}

function isSame(wanted: string | undefined, found: string | null | undefined): boolean {
  return wanted?.toLowerCase() === found?.replaceAll(' ', '').toLowerCase()
}

/**
 * Formats times for the API, `2024-05-01T10:00:00.123456Z`, independent of the time zone of the
 * session.
 */
export function toUtcTime(text: string): string {
  // Operators may set banned_until to infinity in SQL, which JavaScript cannot parse.
  if (text === 'infinity') return lastTime
  const iso = text.replace(' ', 'T')
  if (/(?:Z|\+00(?::?00)?)$/.test(iso)) return iso.replace(/\+00(?::?00)?$/, 'Z')
  const [, time = '', fraction = '', zone = ''] =
    /^(.+?)(\.\d+)?([+-]\d{2}(?::?\d{2}){0,2})$/.exec(iso) ?? []
  const ms = Date.parse(`${time}Z`) - toOffsetMs(zone)
  // Text that is not an ISO 8601 time is returned unchanged.
  if (Number.isNaN(ms)) return text
  return `${new Date(ms).toISOString().slice(0, 19)}${fraction}Z`
}

function toOffsetMs(zone: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = (zone.slice(1).match(/\d{2}/g) ?? []).map(Number)
  const size = ((hours * 60 + minutes) * 60 + seconds) * 1_000
  return zone.startsWith('-') ? -size : size
}

const lastTime = '9999-12-31T23:59:59.999999Z'
