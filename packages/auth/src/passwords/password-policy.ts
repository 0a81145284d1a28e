import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log'
import { ApiError, invalid } from '../errors.ts'
import { isStorableText } from '../features/users/metadata.ts'

export interface PasswordPolicy {
  readonly minLength: number
  /** Of each of these a password needs a character. */
  readonly requiredSets: readonly string[]
  /** Undefined: nobody is asked. */
  readonly leaks?: LeakedPasswords | undefined
}

export interface LeakedPasswords {
  /** @throws {ApiError} where that cannot be told, and must be. */
  has(password: string): Promise<boolean>
}

interface Weakness {
  readonly message: string
  readonly reasons: readonly ('length' | 'characters' | 'pwned')[]
}

/** bcrypt ignores every byte after these, so a longer password would be equal to its beginning. */
const mostBytes = 72

/**
 * Whether no other text has the same hash. bcrypt repeats a password with a zero byte in between,
 * so that `ab` and `ab\0ab` are the same to it; and all halves of surrogate pairs are one character
 * in UTF-8.
 */
export function isHashable(password: string): boolean {
  return Buffer.byteLength(password) <= mostBytes && isStorableText(password)
}

/** Undefined: strong enough. @throws {ApiError} where that cannot be told, and must be. */
async function findWeakness(
  password: string,
  policy: PasswordPolicy,
): Promise<Weakness | undefined> {
  const found = checks.flatMap(({ reason, toMessage, isMet }) =>
    isMet(password, policy) ? [] : [{ reason, message: toMessage(policy) }],
  )
  // Whatever else is wrong with it: the next one should not have leaked either.
  if (await policy.leaks?.has(password)) found.push({ reason: 'pwned', message: leaked })
  if (found.length === 0) return undefined
  return {
    message: found.map(({ message }) => message).join(' '),
    reasons: found.map(({ reason }) => reason),
  }
}

const leaked = 'Password is known to be weak and easy to guess, please choose a different one.'

/** At login it is a hint, and nobody waits for it long. */
const patienceMs = 1_000

/** Undefined: strong enough as far as could be told in time. */
export async function noticeWeakness(
  password: string,
  policy: PasswordPolicy,
): Promise<Weakness | undefined> {
  if (policy.leaks === undefined) return findWeakness(password, policy)
  const waiting = new AbortController()
  const patience = setTimeout(patienceMs, undefined, { signal: waiting.signal })
  try {
    return await Promise.race([findWeakness(password, policy), patience])
  } catch {
    return undefined
  } finally {
    waiting.abort()
  }
}

/** @throws {ApiError} */
export function requireHashable(password: string): void {
  if (Buffer.byteLength(password) > mostBytes) {
    throw invalid('Password cannot be longer than 72 characters')
  }
  if (!isHashable(password)) throw invalid('Password has a character that cannot be stored')
}

/** @throws {ApiError} */
export async function checkPassword(password: string, policy: PasswordPolicy): Promise<void> {
  requireHashable(password)
  const weakness = await findWeakness(password, policy)
  if (weakness === undefined) return
  const { message, reasons } = weakness
  throw new ApiError('weak_password', message, { weakPassword: { reasons } })
}

interface Check {
  readonly reason: Weakness['reasons'][number]
  isMet(password: string, policy: PasswordPolicy): boolean
  toMessage(policy: PasswordPolicy): string
}

const checks: readonly Check[] = [
  {
    reason: 'length',
    // In characters, as people count, and not in bytes.
    isMet: (password, { minLength }) => [...password].length >= minLength,
    toMessage: ({ minLength }) => `Password should be at least ${minLength} characters.`,
  },
  {
    reason: 'characters',
    isMet: (password, { requiredSets }) =>
      requiredSets.every((set) => [...set].some((character) => password.includes(character))),
    toMessage: ({ requiredSets }) =>
      `Password should contain at least one character of each: ${requiredSets.join(', ')}.`,
  },
]

/** Who knows passwords that have leaked somewhere. */
interface LeakSource {
  /**
   * What is known of all hashes that begin with five hexadecimal digits, a line each: the other 35,
   * a colon, and how often it was seen. Hundreds of passwords share a beginning, so that nobody
   * learns which one was meant.
   */
  readRange(prefix: string): Promise<string>
}

interface LeakedPasswordsParts {
  readonly source: LeakSource
  /** Whether no password is taken that could not be looked up. */
  readonly failsClosed: boolean
  readonly log: Log
  readonly now: () => number
}

/** People correct a typo and try again, and sign in with what they have just chosen. */
const keepMs = 600_000
const mostKept = 64

export function createLeakedPasswords(parts: LeakedPasswordsParts): LeakedPasswords {
  const { source, failsClosed, log, now } = parts
  const kept = new Map<string, { readonly range: string; readonly untilMs: number }>()

  async function readRange(prefix: string): Promise<string> {
    const known = kept.get(prefix)
    if (known !== undefined && known.untilMs > now()) return known.range
    const range = await source.readRange(prefix)
    kept.delete(prefix)
    const [oldest] = kept.keys()
    if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest)
    kept.set(prefix, { range, untilMs: now() + keepMs })
    return range
  }

  return {
    async has(password) {
      const digits = createHash('sha1').update(password).digest('hex').toUpperCase()
      let range: string
      try {
        range = await readRange(digits.slice(0, 5))
      } catch (cause) {
        if (failsClosed) throw new ApiError('unexpected_failure', unable, { cause })
        const reason = cause instanceof Error ? cause.message : String(cause)
        log.warning(`A password was not looked up among leaked ones: ${reason}`)
        return false
      }
      return isSeen(range, digits.slice(5))
    },
  }
}

/** Reference 12.4. */
const unable = 'Unable to perform password strength check with HaveIBeenPwned.org.'

/** Lines that were never seen are there to hide how long the answer really is. */
function isSeen(range: string, rest: string): boolean {
  const line = range.split(/\r?\n/).find((each) => each.toUpperCase().startsWith(`${rest}:`))
  return line !== undefined && Number(line.slice(rest.length + 1)) > 0
}

interface PwnedPasswordsSettings {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly userAgent: string
  /** Another place with the same API. */
  readonly baseUrl?: string | undefined
}

/** The list of haveibeenpwned.com (reference 12.4). */
export function createPwnedPasswords(settings: PwnedPasswordsSettings): LeakSource {
  const { fetch, userAgent, baseUrl = 'https://api.pwnedpasswords.com' } = settings
  return {
    async readRange(prefix) {
      const response = await fetch(`${baseUrl}/range/${prefix}`, {
        // Padded, so that the length of the answer does not tell the beginning to who listens.
        headers: { accept: 'text/plain', 'add-padding': 'true', 'user-agent': userAgent },
      })
      if (response.ok) return response.text()
      throw new Error(`${new URL(baseUrl).host} answered ${response.status}`)
    },
  }
}
