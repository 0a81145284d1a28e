import type { OutboxRow } from '../statements/outbox.ts'

/** Trying again would not help. */
export class UndeliverableError extends Error {
  override readonly name = 'UndeliverableError'
}

const maxLength = 300

/**
 * Why a message did not leave, for the log and the table: one line, and nothing of the message in
 * it. Mail servers and gateways like to repeat what they were told.
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

/** Enough for an operator to see whose mail server it is about, or which of some numbers. */
function maskRecipient({ channel, recipient }: OutboxRow): string {
  return `…${recipient.slice(channel === 'sms' ? -3 : Math.max(recipient.lastIndexOf('@'), 0))}`
}
