import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import { ApiError, invalid } from '../errors.ts'
import { isStorableText } from '../stored-json.ts'

export interface PasswordPolicy {
  readonly minLength: number
  /** A password needs a character of each of these sets. */
  readonly requiredSets: readonly string[]
  /** Undefined: leaked passwords are not checked. */
  readonly leaks?: LeakedPasswords | undefined
}

export interface LeakedPasswords {
  /** @throws {ApiError} if the check fails and is required. */
  has(password: string): Promise<boolean>
}

interface Weakness {
  readonly message: string
  readonly reasons: readonly ('length' | 'characters' | 'pwned')[]
}

/** bcrypt ignores all bytes after these, so a longer password would equal its prefix. */
const mostBytes = 72

/**
 * Whether no other text has the same hash. bcrypt repeats a password and separates the copies by a
 * zero byte, so `ab` and `ab\0ab` have the same hash; and all unpaired surrogates are encoded as
 * the same character in UTF-8.
 */
export function isHashable(password: string): boolean {
  return Buffer.byteLength(password) <= mostBytes && isStorableText(password)
}

/**
 * Undefined if the password is strong enough. @throws {ApiError} if the leak check fails and is
 * required.
 */
async function findWeakness(
  password: string,
  policy: PasswordPolicy,
): Promise<Weakness | undefined> {
  const found = checks.flatMap(({ reason, toMessage, isMet }) =>
    isMet(password, policy) ? [] : [{ reason, message: toMessage(policy) }],
  )
  // Checked even if there are other errors, so that the user can fix all of them at once.
  if (await policy.leaks?.has(password)) found.push({ reason: 'pwned', message: leaked })
  if (found.length === 0) return undefined
  return {
    message: found.map(({ message }) => message).join(' '),
    reasons: found.map(({ reason }) => reason),
  }
}

const leaked = 'Password is known to be weak and easy to guess, please choose a different one.'

/** At sign-in, a weak password only causes a hint, so the check has a short timeout. */
const hintTimeoutMs = 1_000

/** Undefined if no weakness was found in time. Never rejects. */
export async function noticeWeakness(
  password: string,
  policy: PasswordPolicy,
): Promise<Weakness | undefined> {
  if (policy.leaks === undefined) return findWeakness(password, policy)
  const waiting = new AbortController()
  const timeout = setTimeout(hintTimeoutMs, undefined, { signal: waiting.signal })
  try {
    return await Promise.race([findWeakness(password, policy), timeout])
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
    // Counts characters rather than bytes.
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

/** A source of leaked passwords. */
interface LeakSource {
  /**
   * Returns the known SHA-1 hashes that start with five hexadecimal digits, one per line: the other
   * 35 digits, a colon and a count. Hundreds of passwords share a prefix, so the request does not
   * reveal the password.
   */
  readRange(prefix: string): Promise<string>
}

interface LeakedPasswordsParts {
  readonly source: LeakSource
  /** Whether to reject passwords that could not be checked. */
  readonly failsClosed: boolean
  readonly log: Log
  readonly now: () => number
}

/** Ranges are cached, because users retry after a typo and sign in with a password just chosen. */
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
        log.warning(`A password could not be checked for leaks: ${toReason(cause)}`)
        return false
      }
      return isSeen(range, digits.slice(5))
    },
  }
}

const unable = 'Unable to perform password strength check with HaveIBeenPwned.org.'

/** Entries with the count 0 are padding that hides the real length of the response. */
function isSeen(range: string, rest: string): boolean {
  const line = range.split(/\r?\n/).find((each) => each.toUpperCase().startsWith(`${rest}:`))
  return line !== undefined && Number(line.slice(rest.length + 1)) > 0
}

interface PwnedPasswordsSettings {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly userAgent: string
  /** The URL of a service with the same API. */
  readonly baseUrl?: string | undefined
}

/** The service of haveibeenpwned.com. */
export function createPwnedPasswords(settings: PwnedPasswordsSettings): LeakSource {
  const { fetch, userAgent, baseUrl = 'https://api.pwnedpasswords.com' } = settings
  return {
    async readRange(prefix) {
      const response = await fetch(`${baseUrl}/range/${prefix}`, {
        // Padding hides the prefix from observers of the response length.
        headers: { accept: 'text/plain', 'add-padding': 'true', 'user-agent': userAgent },
      })
      if (response.ok) return response.text()
      throw new Error(`${new URL(baseUrl).host} responded with ${response.status}`)
    },
  }
}
