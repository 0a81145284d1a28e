import { invalid } from '../../errors.ts'
import { uuidPattern } from '../sessions/bearer.ts'

/** What a reader of the live tail has seen: a snapshot of PostgreSQL, and the time it was taken. */
interface Seen {
  /** As `pg_current_snapshot` returns it. */
  readonly snapshot: string
  readonly at: string
}

export interface TailPosition extends Seen {
  /**
   * Set when a response could not contain all new events: it has those up to a time and an ID. The remaining
   * ones are read before anything newer.
   */
  readonly rest?: (Seen & { readonly time: string; readonly id: string }) | undefined
}

export function toTailCursor({ snapshot, at, rest }: TailPosition): string {
  const parts = [snapshot, at, ...(rest ? [rest.snapshot, rest.at, rest.time, rest.id] : [])]
  return Buffer.from(parts.join(' ')).toString('base64url')
}

/** @throws {ApiError} */
export function parseTailCursor(name: string, cursor: string): TailPosition {
  const parts = Buffer.from(cursor, 'base64url').toString().split(' ')
  const [snapshot = '', at = '', lastSnapshot = '', lastAt = '', time = '', id = ''] = parts
  const isSeen = isSnapshot(snapshot) && isTime(at)
  if (isSeen && parts.length === 2) return { snapshot, at }
  const isRest = isSnapshot(lastSnapshot) && isTime(lastAt) && isTime(time)
  if (isSeen && isRest && uuidPattern.test(id) && parts.length === 6) {
    return { snapshot, at, rest: { snapshot: lastSnapshot, at: lastAt, time, id } }
  }
  throw invalid(`${name} must be the value of "latest" in a response`)
}

/** PostgreSQL refuses other texts: `xmin:xmax:list`, with an ascending list of IDs in between. */
function isSnapshot(text: string): boolean {
  const [, first, end, list = ''] =
    /^(\d{1,19}):(\d{1,19}):((?:\d{1,19}(?:,\d{1,19})*)?)$/.exec(text) ?? []
  if (first === undefined || end === undefined) return false
  const running = list === '' ? [] : list.split(',').map(BigInt)
  const all = [BigInt(first), ...running, BigInt(end)]
  return BigInt(first) > 0n && all.every((id, index) => index === 0 || id >= (all[index - 1] ?? id))
}

function isTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/.test(text) && !Number.isNaN(Date.parse(text))
  )
}
