import { ApiError } from '../../errors.ts'
import { parseEmail, parsePhone } from '../../features/users/addresses.ts'
import type { GuessLimit } from '../../limits/guesses.ts'
import type { Services } from '../../services.ts'
import { toGapError, toSmsGapError } from './message-gaps.ts'
import { findTestCode } from './phone-gateway.ts'

/** Where a message with a code or a link goes. */
export interface CodeRecipient {
  readonly channel: 'email' | 'sms'
  /** The address in lower case, or the digits of the number. */
  readonly name: string
}

const toError = { email: toGapError, sms: toSmsGapError } as const

/**
 * Sends codes where each recipient may be sent another one today, whether there is such a user or not.
 * A code dies of five wrong guesses; this bounds how many codes there are to guess.
 * @param send what it throws has sent nothing, and is not counted. @throws {ApiError}
 */
export async function guardCodes<Result>(
  services: Services,
  recipients: readonly CodeRecipient[],
  send: () => Promise<Result>,
): Promise<Result> {
  const limits = recipients
    .filter((recipient) => isSentAnything(services, recipient))
    .map((recipient): GuessLimit => toLimit(services, recipient))
  if (limits.length === 0) return send()
  const { result } = await services.guesses.guard(limits, async () => ({
    isRight: false,
    result: await send(),
  }))
  return result
}

/** For a code that is sent in any case. @throws {ApiError} where there may be no other one today. */
export async function countCode(services: Services, recipient: CodeRecipient): Promise<void> {
  const { limiter, key, toError } = toLimit(services, recipient)
  const waitSeconds = await services.requestLimits.take(limiter, key)
  if (waitSeconds !== undefined) throw toError(waitSeconds)
}

function toLimit({ accountKeys }: Services, { channel, name }: CodeRecipient) {
  return {
    limiter: 'codes',
    // Of all audiences: they share the mailbox.
    key: accountKeys.toKey({ audience: '', name }),
    toError: toError[channel],
  } as const
}

/** A number for tests has its code already. */
function isSentAnything(services: Services, { channel, name }: CodeRecipient): boolean {
  return channel === 'email' || findTestCode(services, name) === undefined
}

interface Names {
  readonly email?: string | undefined
  readonly phone?: string | undefined
}

/** Whom a request names. What cannot be read is nobody: the endpoint refuses it by itself. */
export function readRecipients({ email = '', phone = '' }: Names): readonly CodeRecipient[] {
  const recipients = [
    email === '' ? undefined : tryToRead('email', email, parseEmail),
    phone === '' ? undefined : tryToRead('sms', phone, parsePhone),
  ]
  return recipients.filter((recipient) => recipient !== undefined)
}

function tryToRead(
  channel: CodeRecipient['channel'],
  text: string,
  parse: (text: string) => string,
): CodeRecipient | undefined {
  try {
    return { channel, name: parse(text) }
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
