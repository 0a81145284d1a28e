import { createHash } from 'node:crypto'
import type { Log } from '@portcullis/service-kit/log'
import { ApiError } from '../errors.ts'
import type { LeakedPasswords } from './password-policy.ts'

/** Who knows passwords that have leaked somewhere. */
export interface LeakSource {
  /**
   * What is known of all hashes that begin with five hexadecimal digits, a line each: the other 35,
   * a colon, and how often it was seen. Hundreds of passwords share a beginning, so that nobody
   * learns which one was meant.
   */
  readRange(prefix: string): Promise<string>
}

export interface LeakedPasswordsParts {
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
