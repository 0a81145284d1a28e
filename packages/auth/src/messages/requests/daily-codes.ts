import { parseEmail, parsePhone } from '../../addresses.ts'
import { ApiError } from '../../errors.ts'
import type { GuessLimit } from '../../limits/guesses.ts'
import type { Services } from '../../services.ts'
import { type MessageChannel, toCooldownError } from './message-cooldowns.ts'
import { findTestCode } from './phone-gateway.ts'

/** The recipient of a message with a code or link. */
export interface CodeRecipient {
  readonly channel: MessageChannel
  /** The email address in lower case, or the digits of the phone number. */
  readonly name: string
}

/**
 * Sends codes if no recipient has reached the daily limit, whether such a user exists or not. A
 * code is invalidated after five wrong guesses; the daily limit bounds the number of such codes.
 * @param send nothing is counted if it throws. @throws {ApiError}
 */
export async function guardCodes<Result>(
  services: Services,
  recipients: readonly CodeRecipient[],
  send: () => Promise<Result>,
): Promise<Result> {
  const limits = recipients
    .filter((recipient) => receivesMessages(services, recipient))
    .map((recipient): GuessLimit => toLimit(services, recipient))
  if (limits.length === 0) return send()
  const { result } = await services.guesses.guard(limits, async () => ({
    // A wrong guess is counted; here each code that is sent is counted in the same way.
    isRight: false,
    result: await send(),
  }))
  return result
}

/**
 * Checks that the addresses can receive messages, whether such users exist or not.
 * @param known the address that the caller has already; it must not prevent them from changing it.
 * @throws {ApiError}
 */
export async function checkRecipients(
  { emailCheck }: Pick<Services, 'emailCheck'>,
  recipients: readonly CodeRecipient[],
  known: string | null | undefined,
): Promise<void> {
  if (emailCheck === undefined) return
  const emails = recipients.filter(({ channel, name }) => channel === 'email' && name !== known)
  await Promise.all(emails.map(({ name }) => emailCheck.check(name)))
}

/** Counts a code before it is sent. @throws {ApiError} if the daily limit is reached. */
export async function countCode(services: Services, recipient: CodeRecipient): Promise<void> {
  const { limiter, key, toError } = toLimit(services, recipient)
  const waitSeconds = await services.requestLimits.take(limiter, key)
  if (waitSeconds !== undefined) throw toError(waitSeconds)
}

function toLimit({ accountKeys }: Services, { channel, name }: CodeRecipient) {
  return {
    limiter: 'codes',
    // Shared by all audiences, because they share the mailbox.
    key: accountKeys.toKey({ audience: '', name }),
    toError: (seconds: number) => toCooldownError(channel, seconds),
  } as const
}

/** A test phone number has a fixed code, and nothing is sent to it. */
function receivesMessages(services: Services, { channel, name }: CodeRecipient): boolean {
  return channel === 'email' || findTestCode(services, name) === undefined
}

interface Names {
  readonly email?: string | undefined
  readonly phone?: string | undefined
}

/**
 * Reads the recipients of a request. Invalid ones are skipped, because the endpoint rejects them.
 */
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
