import { randomUUID } from 'node:crypto'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { Queries } from '../../db/database.ts'
import { ApiError, type ErrorCode } from '../../errors.ts'
import { isStorableText } from '../../stored-json.ts'
import { describeRequest } from './audited-request.ts'
import { trimSignIns, writeSignIns } from './statements.ts'

/** Why a sign-in failed. Only operators see it; the responses to clients do not depend on it. */
export const failureReasons = [
  'wrong_password',
  'wrong_code',
  'wrong_passkey',
  'unconfirmed',
  'banned',
  'second_factor',
  'limited',
] as const

type SignInFailureReason = (typeof failureReasons)[number]

interface SignInFailure {
  readonly reason: SignInFailureReason
  /** The email address or phone number in the stored format; empty when the request has none. */
  readonly name: string
  readonly audience: string
  /** Undefined when the account is not known yet; it is then looked up by name later. */
  readonly userId: string | undefined
  readonly ip: string
}

/** Counts sign-ins and stores failed ones for operators. The calls do not wait for the database. */
export interface SignInLog {
  countSignIn(): void
  noteFailure(failure: SignInFailure): void
}

export const noSignInLog: SignInLog = { countSignIn: () => {}, noteFailure: () => {} }

const reasons: Readonly<Partial<Record<ErrorCode, SignInFailureReason>>> = {
  invalid_credentials: 'wrong_password',
  otp_expired: 'wrong_code',
  webauthn_verification_failed: 'wrong_passkey',
  email_not_confirmed: 'unconfirmed',
  phone_not_confirmed: 'unconfirmed',
  user_banned: 'banned',
  mfa_verification_failed: 'second_factor',
  mfa_verification_rejected: 'second_factor',
  mfa_challenge_expired: 'second_factor',
  over_request_rate_limit: 'limited',
  mfa_recovery_codes_locked: 'limited',
}

/** Undefined when the error was not caused by the user's credentials or account. */
function toFailureReason(error: unknown): SignInFailureReason | undefined {
  return error instanceof ApiError ? reasons[error.code] : undefined
}

/**
 * Runs a sign-in and logs its failure. `found` is read after the failure, so the sign-in may still
 * fill it in.
 */
export async function notingFailure<Result>(
  log: SignInLog,
  found: Omit<SignInFailure, 'reason'>,
  signIn: () => Promise<Result>,
): Promise<Result> {
  try {
    return await signIn()
  } catch (error) {
    const reason = toFailureReason(error)
    if (reason !== undefined) log.noteFailure({ ...found, reason })
    throw error
  }
}

interface SignInLogSettings {
  readonly db: Queries
  readonly log: Pick<Log, 'warning'>
  readonly now: () => number
  /** Whether failures are stored. They are always counted. */
  readonly keepsFailures: boolean
  /** Failures are kept no longer than audit entries. Undefined: audit entries are kept forever. */
  readonly auditMs?: number | undefined
  /** Called for each failure, in the context of its request. */
  readonly onFailure?: (failure: SignInFailure) => void
  readonly onSignIn?: (outcome: string) => void
}

/** The length of the period that one count covers. */
export const stepSeconds = 10
/** Failures with the same name, reason and IP address within this period share a row. */
const periodMs = 600_000
const writeAfterMs = 1_000
/** How many different failures are kept until the next write. Further ones are only counted. */
const mostFailures = 500
const longestName = 255
const dayMs = 86_400_000
const countsKeptMs = dayMs + 3_600_000
const failuresKeptMs = 30 * dayMs
const trimEveryMs = 60_000

interface KeptFailure {
  readonly id: string
  readonly period: Date
  readonly aud: string
  readonly name: string
  readonly reason: string
  readonly ip_address: string
  readonly user_id: string | null
  count: number
  readonly first_at: Date
  last_at: Date
  /** The user agent and the request ID of the last attempt. */
  user_agent: string
  request_id: string
}

interface Unwritten {
  /** Counts by step and outcome. */
  readonly counts: Map<string, { step: Date; outcome: string; count: number }>
  readonly failures: Map<string, KeptFailure>
}

/**
 * Collects sign-ins in memory and writes them in batches. A flood therefore costs one statement per
 * second, and the time of a failed sign-in does not reveal whether the account exists.
 */
export function openSignInLog(settings: SignInLogSettings): SignInLog & AsyncDisposable {
  const { db, log, now, keepsFailures, auditMs, onFailure, onSignIn } = settings
  let unwritten = createUnwritten()
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let trimmedMs = Number.NEGATIVE_INFINITY
  let isFailing = false

  function plan(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      writing = writing.then(write)
    }, writeAfterMs).unref()
  }

  async function write(): Promise<void> {
    const { counts, failures } = unwritten
    if (counts.size === 0) return
    unwritten = createUnwritten()
    try {
      await db.run(writeSignIns, {
        counts: JSON.stringify([...counts.values()]),
        failures: JSON.stringify([...failures.values()]),
      })
      await trim()
      isFailing = false
    } catch (error) {
      if (!isFailing) {
        log.warning(`Sign-ins could not be counted in the database: ${toReason(error)}`)
      }
      isFailing = true
    }
  }

  async function trim(): Promise<void> {
    if (performance.now() - trimmedMs < trimEveryMs) return
    trimmedMs = performance.now()
    const keptMs = Math.min(failuresKeptMs, auditMs ?? failuresKeptMs)
    await db.run(trimSignIns, {
      countsBefore: new Date(now() - countsKeptMs),
      failuresBefore: new Date(now() - keptMs),
    })
  }

  function count(outcome: string): void {
    onSignIn?.(outcome)
    const stepMs = stepSeconds * 1_000
    const step = Math.floor(now() / stepMs) * stepMs
    const key = `${step} ${outcome}`
    const known = unwritten.counts.get(key)
    if (known === undefined) {
      unwritten.counts.set(key, { step: new Date(step), outcome, count: 1 })
    } else {
      known.count += 1
    }
    plan()
  }

  function keep(failure: SignInFailure): void {
    const { reason, audience: aud, userId, ip } = failure
    const name = toKeptName(failure.name)
    const at = new Date(now())
    const period = Math.floor(at.getTime() / periodMs) * periodMs
    const key = JSON.stringify([period, aud, name, reason, ip])
    const known = unwritten.failures.get(key)
    if (known !== undefined) {
      known.count += 1
      known.last_at = at
      Object.assign(known, describeRequest())
    } else if (unwritten.failures.size < mostFailures) {
      unwritten.failures.set(key, {
        ...{ id: randomUUID(), period: new Date(period), aud, name, reason, ip_address: ip },
        ...{ user_id: userId ?? null, count: 1, first_at: at, last_at: at },
        ...describeRequest(),
      })
    }
  }

  return {
    countSignIn: () => count('succeeded'),
    noteFailure(failure) {
      if (keepsFailures) keep(failure)
      count(failure.reason)
      onFailure?.(failure)
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      await writing.then(write)
    },
  }
}

function createUnwritten(): Unwritten {
  return { counts: new Map(), failures: new Map() }
}

/**
 * Users sometimes type a password into the wrong field, so only texts that look like an address or
 * a phone number are stored.
 */
function toKeptName(name: string): string {
  const isName = /^(?:[^\s@]+@[^\s@]+|\d{5,20})$/.test(name)
  return isName && name.length <= longestName && isStorableText(name) ? name : ''
}
