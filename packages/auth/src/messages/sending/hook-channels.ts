import { createHash } from 'node:crypto'
import type { Queries } from '../../db/database.ts'
import { findEmailActionType } from '../../features/redirects/confirmation-link.ts'
import { findUserById } from '../../features/users/statements/user-row.ts'
import { toUserRecord, type UserRecord } from '../../features/users/user-record.ts'
import type { NewUserNotice } from '../../plugins/hooks/before-user-created.ts'
import { type HookCall, HookRejection } from '../../plugins/hooks/hook.ts'
import type { EmailData, EmailToSend } from '../../plugins/hooks/send-email.ts'
import type { SmsToSend } from '../../plugins/hooks/send-sms.ts'
import type { OutboxRow } from '../statements/outbox.ts'
import { UndeliverableError } from './failures.ts'
import type { Deliver } from './outbox-sender.ts'

/**
 * Hooks that replace the mail server or the SMS gateway get their messages from the outbox as well:
 * requests do not wait for them, and failed calls are retried while the code is valid.
 */
export function createEmailHookChannel(db: Queries, send: HookCall<EmailToSend, void>): Deliver {
  return toChannel(db, send, (user, row) => ({ user, email_data: toEmailData(row) }))
}

export function createSmsHookChannel(db: Queries, send: HookCall<SmsToSend, void>): Deliver {
  return toChannel(db, send, (user, { kind, recipient, payload }) => ({
    user,
    sms: {
      otp: readText(payload, 'Code'),
      sms_type: kind === 'mfa_code' ? 'mfa' : kind,
      phone: recipient,
    },
  }))
}

/** @param call undefined if the hook was disabled after the message was stored. */
export function createNoticeChannel(
  db: Queries,
  call: HookCall<NewUserNotice, void> | undefined,
): Deliver {
  if (call !== undefined) return toChannel(db, call, (user) => ({ user }))
  return async () => {
    throw new UndeliverableError('the hook is disabled')
  }
}

function toChannel<Input extends object>(
  db: Queries,
  call: HookCall<Input, void>,
  toInput: (user: UserRecord, row: OutboxRow) => Input,
): Deliver {
  return async (row, signal) => {
    const userId = readText(row.payload, 'UserID')
    const [user] = userId === '' ? [] : await db.run(findUserById, { id: userId })
    if (user === undefined) throw new UndeliverableError('the user no longer exists')
    const occasion = { ip: readText(row.payload, 'IP'), id: toMessageId(row), signal }
    try {
      await call(toInput(toUserRecord(user), row), occasion)
    } catch (error) {
      if (!(error instanceof HookRejection)) throw error
      throw new UndeliverableError(`the hook rejected the message: ${error.message}`)
    }
  }
}

/** The same for every attempt, so that receivers recognise a duplicate. */
function toMessageId({ id, channel, created_at }: OutboxRow): string {
  const hash = createHash('sha256').update(`${channel} ${id} ${created_at}`).digest('hex')
  // Version 8 of RFC 9562: a UUID with custom content.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

function toEmailData({ kind, recipient, payload }: OutboxRow): EmailData {
  const text = (name: string) => readText(payload, name)
  const data = {
    token: text('Token'),
    token_hash: text('TokenHash'),
    redirect_to: text('RedirectTo'),
    email_action_type: findEmailActionType(kind) ?? kind,
    site_url: text('ExternalURL'),
    token_new: '',
    token_hash_new: '',
    old_email: text('OldEmail'),
    old_phone: text('OldPhone'),
    provider: text('Provider'),
    factor_type: text('FactorType'),
  }
  if (kind !== 'email_change') return data
  // Existing receivers use these fields crosswise: `token` with `token_hash_new` for the current
  // address, and `token_new` with `token_hash` for the new one.
  if (text('CurrentTokenHash') !== '') {
    return {
      ...data,
      token: text('CurrentToken'),
      token_hash_new: text('CurrentTokenHash'),
      token_new: data.token,
    }
  }
  const isForCurrent = recipient === text('Email') && recipient !== text('NewEmail')
  return isForCurrent ? { ...data, token_hash: '', token_hash_new: data.token_hash } : data
}

function readText(payload: OutboxRow['payload'], name: string): string {
  const { [name]: value } = payload
  return typeof value === 'string' ? value : ''
}
