import { statement } from '../../../db/statement.ts'
import { codeColumns, type ExchangeableRow } from './codes.ts'

export const addDeviceRequest = statement(
  'add_oauth_device_request',
  ['id', 'clientId', 'scope', 'resource', 'userCode', 'deviceCodeHash', 'now', 'expiresAt'],
  `insert into {ns}.oauth_authorizations (id, client_id, redirect_uri, scope, state, nonce, resource,
     code_challenge, prompt, user_code, device_code_hash, created_at, expires_at)
   values ($1, $2, '', $3, '', '', $4, '', '', $5, $6, $7, $8)`,
)

export const findByUserCode = statement(
  'find_oauth_device_request',
  ['userCode', 'now'],
  `select id from {ns}.oauth_authorizations
   where user_code = $1 and status = 'pending' and expires_at > $2`,
).returning<{ readonly id: string }>()

export interface PolledRow extends ExchangeableRow {
  readonly status: 'pending' | 'approved' | 'denied' | 'exchanged'
  /** Null until a user has opened the request. */
  readonly user_id: string | null
  /** Whether the device asked less than the interval ago. */
  readonly is_early: boolean
}

/** Reads the request of a device and records the time, by which the next one may be too early. */
export const pollDevice = statement(
  'poll_oauth_device_request',
  ['deviceCodeHash', 'clientId', 'now', 'earliest'],
  `with present as materialized (
     select a.id, a.polled_at > $4 as is_early from {ns}.oauth_authorizations a
     where a.device_code_hash = $1 and a.client_id = $2 for update
   ), a as (
     update {ns}.oauth_authorizations a set polled_at = $3 from present p where a.id = p.id
     returning a.*, coalesce(p.is_early, false) as is_early
   )
   select ${codeColumns}, a.is_early from a left join {ns}.users u on u.id = a.user_id`,
).returning<PolledRow>()
