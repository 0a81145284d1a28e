import { markDelivered } from '../../src/features/sessions/statements/sessions.ts'
import {
  claimMessages,
  deleteMessage,
  failMessage,
  releaseMessage,
  retryMessage,
} from '../../src/messages/statements/outbox.ts'
import { listKeys } from '../../src/tokens/statements.ts'

const names: ReadonlySet<string> = new Set([
  'read_clock',
  'write_sign_ins',
  'trim_sign_ins',
  listKeys.name,
  claimMessages.name,
  deleteMessage.name,
  retryMessage.name,
  releaseMessage.name,
  failMessage.name,
  markDelivered.name,
])

/** Whether timers run the statement: a test that counts the statements of a request must skip it. */
export function isBackgroundStatement(name: string): boolean {
  return names.has(name) || name.startsWith('purge_')
}
