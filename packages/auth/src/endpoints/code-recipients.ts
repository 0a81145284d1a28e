import type { CodeRecipient } from '../core/daily-codes.ts'
import { parseEmail } from '../core/email-address.ts'
import { parsePhone } from '../core/phone-number.ts'
import { ApiError } from '../errors.ts'

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
