import { ApiError } from '../../errors.ts'
import { parseEmail } from '../../features/users/email-address.ts'
import { parsePhone } from '../../features/users/phone-number.ts'
import type { CodeRecipient } from './daily-codes.ts'

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
