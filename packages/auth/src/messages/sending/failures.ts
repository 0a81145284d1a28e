import type { OutboxRow } from '../statements/outbox.ts'

/** A permanent failure; a retry would not help. */
export class UndeliverableError extends Error {
  override readonly name = 'UndeliverableError'
}

const maxLength = 300

/**
 * Describes why a message was not sent, for the log and the table: one line without any content of
 * the message, because mail servers and gateways often quote their input.
 */
export function describeFailure(error: Error, row: OutboxRow): string {
  const { Token, TokenHash, ConfirmationURL, Code, CurrentToken, CurrentTokenHash } = row.payload
  let text = error.message
  const secrets = [ConfirmationURL, TokenHash, Token, Code, CurrentTokenHash, CurrentToken]
  for (const secret of secrets) {
    if (typeof secret === 'string' && secret.length >= 4) text = text.replaceAll(secret, '…')
  }
  if (row.recipient !== '') text = text.replaceAll(row.recipient, maskRecipient(row))
  return text.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, maxLength)
}

/** Keeps the mail domain or the last three digits, so that an operator can find the cause. */
function maskRecipient({ channel, recipient }: OutboxRow): string {
  return `…${recipient.slice(channel === 'sms' ? -3 : Math.max(recipient.lastIndexOf('@'), 0))}`
}
