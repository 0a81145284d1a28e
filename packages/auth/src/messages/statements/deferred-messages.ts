import { statement } from '../../db/statement.ts'
import { askPermit, permitParameters } from './message-gaps.ts'
import { insertMessage } from './outbox.ts'

/** What a request asks for. */
export type DeferredKind =
  | 'recovery'
  | 'magic_link'
  | 'resend_signup'
  | 'resend_email_change'
  | 'phone_otp'
  | 'resend_sms'
  | 'resend_phone_change'

/**
 * Takes down a request for a message, whether there is anybody to send it to or not: looking for them
 * is left to whoever empties the outbox. A row where a message could go out, to that address and at
 * all; otherwise nothing is written.
 */
const toStatement = (channel: 'email' | 'sms') =>
  statement(
    `defer_${channel}`,
    [...permitParameters, 'kind', 'recipient', 'request', 'expiresInSeconds'],
    `with ${askPermit(channel)}, deferred as (
       ${insertMessage('request', {
         kind: '$6::text',
         recipient: '$7::text',
         payload: '$8::jsonb',
         expiresInSeconds: '$9::double precision',
         from: 'permit',
       })}
     )
     select 1 as has_room from permit`,
  )

export const deferEmail = toStatement('email')
export const deferText = toStatement('sms')
