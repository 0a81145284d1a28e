import type { OutboxRow } from '../db/outbox.ts'

const maxLength = 300

/**
 * Why a message did not leave, for the log and the table: one line, and nothing of the message in
 * it. Mail servers like to repeat what they were told.
 */
export function describeFailure(error: Error, row: OutboxRow): string {
  const { Token, TokenHash, ConfirmationURL } = row.payload
  let text = error.message
  for (const secret of [ConfirmationURL, TokenHash, Token]) {
    if (typeof secret === 'string' && secret.length >= 4) text = text.replaceAll(secret, '…')
  }
  if (row.recipient !== '') text = text.replaceAll(row.recipient, maskAddress(row.recipient))
  return text.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, maxLength)
}

/** Enough for an operator to see whose mail server it is about. */
function maskAddress(address: string): string {
  return `…${address.slice(Math.max(address.lastIndexOf('@'), 0))}`
}
