import { type Answer, parseObject } from '../health/index.ts'
import type { RangeName } from './decision-history.ts'

/** The step of the auth server's counts, in milliseconds. */
export const stepMs = 10_000
const minuteSteps = 60_000 / stepMs
const dayMs = 86_400_000
const capacity = dayMs / stepMs

interface SignInCount {
  readonly succeeded: number
  readonly failed: number
}

export interface SignInsPeriod {
  /** Seconds from one point to the next. */
  readonly stepSeconds: number
  /** The length of the interval that each point covers. */
  readonly coveredSeconds: number
  /** The end of the newest point, in milliseconds since the epoch. */
  readonly until: number
  /** Sign-ins per minute, oldest first; null for steps without data. */
  readonly succeeded: readonly (number | null)[]
  readonly failed: readonly (number | null)[]
  /** In the last minute. */
  readonly current: SignInCount | undefined
}

interface SignIns {
  add(at: number, count: SignInCount): void
  /** Drops the counts from that time on, before they are read again. */
  forgetFrom(at: number): void
  /** Marks the counts from that time on as complete. */
  setKnownFrom(at: number): void
  read(range: RangeName, now: number): SignInsPeriod
}

/** The distance between two points and the length of the interval that each covers, in steps. */
const shapes: Readonly<Record<RangeName, { readonly every: number; readonly over: number }>> = {
  // Each point covers the minute before it, so that the line is not a row of single spikes.
  '15m': { every: 1, over: minuteSteps },
  '1h': { every: minuteSteps, over: minuteSteps },
  '24h': { every: 15 * minuteSteps, over: 15 * minuteSteps },
}

const spans: Readonly<Record<RangeName, number>> = {
  '15m': 15 * minuteSteps,
  '1h': 60 * minuteSteps,
  '24h': capacity,
}

const none: SignInCount = { succeeded: 0, failed: 0 }

/** Aggregates counts by step, so memory use does not depend on the number of sign-ins. */
export function countSignIns(): SignIns {
  const steps = new Map<number, SignInCount>()
  let knownFrom = Number.POSITIVE_INFINITY
  const toStep = (at: number) => Math.floor(at / stepMs)

  function sum(last: number, count: number): SignInCount {
    let total = none
    for (let step = last - count + 1; step <= last; step += 1) {
      total = addCounts(total, steps.get(step) ?? none)
    }
    return total
  }

  return {
    add(at, count) {
      const step = toStep(at)
      steps.set(step, addCounts(steps.get(step) ?? none, count))
    },
    forgetFrom(at) {
      for (const step of steps.keys()) if (step >= toStep(at)) steps.delete(step)
    },
    setKnownFrom(at) {
      knownFrom = Math.min(knownFrom, at)
    },
    read(range, now) {
      const newest = toStep(now)
      for (const step of steps.keys()) {
        if (step < newest - capacity - minuteSteps) steps.delete(step)
      }
      const { every, over } = shapes[range]
      const minutes = over / minuteSteps
      const points: (SignInCount | null)[] = []
      for (let last = newest - spans[range] + every; last <= newest; last += every) {
        const isKnown = (last - over + 1) * stepMs >= knownFrom
        points.push(isKnown ? sum(last, over) : null)
      }
      const toRate = (count: number) => Math.round((count / minutes) * 100) / 100
      return {
        stepSeconds: (every * stepMs) / 1000,
        coveredSeconds: (over * stepMs) / 1000,
        until: (newest + 1) * stepMs,
        succeeded: points.map((point) => point && toRate(point.succeeded)),
        failed: points.map((point) => point && toRate(point.failed)),
        current: knownFrom < now ? sum(newest, minuteSteps) : undefined,
      }
    },
  }
}

function addCounts(left: SignInCount, right: SignInCount): SignInCount {
  return { succeeded: left.succeeded + right.succeeded, failed: left.failed + right.failed }
}

/** Auth server processes write their counts with a delay. */
const lateMs = 6 * stepMs

interface Memory {
  /** The time to continue reading from. */
  nextMs: number
}

const memories = new WeakMap<SignIns, Memory>()

/** Reads new counts from the auth server. @returns false if the server does not count sign-ins. */
export async function readSignInCounts(
  signIns: SignIns,
  read: (path: string) => Promise<Answer>,
): Promise<boolean> {
  const memory = memories.get(signIns) ?? { nextMs: 0 }
  memories.set(signIns, memory)
  const firstMs = Math.max(memory.nextMs, Math.floor((Date.now() - dayMs) / stepMs) * stepMs)
  const since = encodeURIComponent(new Date(firstMs).toISOString())
  const { status, text } = await read(`/admin/sign-ins?since=${since}`)
  if (status !== 200) return false
  const { counts } = parseObject(text) ?? {}
  if (!Array.isArray(counts)) return false
  signIns.forgetFrom(firstMs)
  for (const { step, outcome, count } of counts) {
    const at = Date.parse(step)
    if (at < firstMs) continue
    const isSuccess = outcome === 'succeeded'
    signIns.add(at, { succeeded: isSuccess ? count : 0, failed: isSuccess ? 0 : count })
  }
  signIns.setKnownFrom(firstMs)
  memory.nextMs = Math.floor((Date.now() - lateMs) / stepMs) * stepMs
  return true
}

/** Failed sign-ins with the same name, reason and address within ten minutes, as stored by the auth server. */
export interface SignInFailure {
  readonly id: string
  /** Null if no such account exists. */
  readonly user_id: string | null
  /** Empty if the client sent neither an email address nor a phone number. */
  readonly name: string
  readonly reason: string
  readonly ip_address: string
  readonly count: number
  readonly first_at: string
  readonly last_at: string
}

/** Ignores items that do not look like a failure. */
export function parseSignInFailures(text: string): readonly SignInFailure[] {
  const failures: unknown = JSON.parse(text)
  if (!Array.isArray(failures)) throw new Error('The list of failed sign-ins is not a list.')
  return failures.filter((failure): failure is SignInFailure => {
    const { id, name, reason, last_at }: Partial<Record<keyof SignInFailure, unknown>> =
      Object(failure)
    return [id, name, reason, last_at].every((each) => typeof each === 'string')
  })
}

/** Converts a failure to the form of an audit log entry. */
export function toFailureEntry(failure: SignInFailure): AuditEntry {
  const { id, user_id: userId, name, reason, ip_address, count, first_at, last_at } = failure
  return {
    id,
    created_at: last_at,
    ip_address,
    payload: {
      action: 'login_failed',
      actor_id: userId ?? '',
      actor_username: name,
      traits: { reason, count, first_at },
    },
  }
}

/** An entry of the auth server's audit log. */
export interface AuditEntry {
  readonly id: string
  readonly created_at: string
  readonly ip_address: string
  readonly payload: {
    readonly action: string
    readonly actor_id: string
    /** The role, if the actor is an administrator. */
    readonly actor_username: string
    readonly traits?: Readonly<Record<string, unknown>>
    /** Supabase Auth does not store the user agent and the ID of the request. */
    readonly user_agent?: string
    readonly request_id?: string
  }
}

/** An audit log entry with the user it is about. */
export interface AuditEvent {
  readonly entry: AuditEntry
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly user: { readonly id: string; readonly name: string }
}

/** Parses the response of `GET /admin/audit`. */
export function parseAuditEntries(text: string): readonly AuditEvent[] {
  return toAuditEvents(JSON.parse(text))
}

/** Ignores items that do not look like an entry. */
export function toAuditEvents(entries: unknown): readonly AuditEvent[] {
  if (!Array.isArray(entries)) throw new Error('The audit log of the auth server is not a list.')
  return entries.filter(isEntry).map(toEvent)
}

function isEntry(value: unknown): value is AuditEntry {
  const { id, created_at, payload }: Partial<Record<keyof AuditEntry, unknown>> = Object(value)
  const { action, actor_id }: Partial<Record<keyof AuditEntry['payload'], unknown>> =
    Object(payload)
  return [id, created_at, action, actor_id].every((text) => typeof text === 'string')
}

/** If an administrator acted on a user, the traits name the user. */
export function toEvent(entry: AuditEntry): AuditEvent {
  const { actor_id: actorId, actor_username: actorName, traits = {} } = entry.payload
  const { user_id: userId, user_email: email, user_phone: phone } = traits
  const isOther = isText(userId) && userId !== actorId
  const names = isOther ? [email, phone, userId] : [actorName, actorId]
  return {
    entry,
    at: Date.parse(entry.created_at),
    user: { id: isOther ? userId : actorId, name: names.find(isText) ?? '' },
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
