import { ApiError } from '../../errors.ts'
import { parseEmail, parsePhone } from '../../features/users/addresses.ts'
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
