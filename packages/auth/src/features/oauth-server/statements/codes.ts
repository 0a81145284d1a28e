import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import type { NewAuditEntry } from '../../../messages/statements/request-parts.ts'
import type { ClientGrant } from '../../../tokens/client-grants.ts'
import { logAction } from '../../audit/statements.ts'
import { type Amr, type SessionRow, selectSession } from '../../sessions/statements/sessions.ts'
import { selectUser, type Time } from '../../users/statements/user-row.ts'

/** A request that can be exchanged for tokens, with its user if there is one. */
interface ExchangeableRow extends Row {
  readonly id: string
  readonly client_id: string
  readonly redirect_uri: string
  readonly scope: string
  readonly nonce: string
  readonly resource: string
  readonly code_challenge: string
  readonly dpop_jkt: string | null
  readonly session_id: string | null
  readonly expires_at: Time
  readonly email: string | null
  readonly phone: string | null
  readonly is_sso_user: boolean
  readonly banned_until: Time | null
  readonly deleted_at: Time | null
}

/** A request that the user has approved. */
export interface ApprovedRow extends ExchangeableRow {
  readonly user_id: string
}

/** A request whose code was issued. */
export interface CodeRow extends ApprovedRow {
  readonly status: 'approved' | 'exchanged'
}

/** The columns of a `CodeRow`: the request `a` and its user `u`. */
const codeColumns = `a.id, a.client_id, a.user_id, a.status, a.redirect_uri, a.scope, a.nonce,
     a.resource, a.code_challenge, a.dpop_jkt, a.session_id, a.expires_at, u.email, u.phone, u.is_sso_user,
     u.banned_until, u.deleted_at`

/** @param codeHash in binary. The codes of devices are exchanged in another way. */
export const findCode = statement(
  'find_oauth_code',
  ['codeHash'],
  `select ${codeColumns}
   from {ns}.oauth_authorizations a join {ns}.users u on u.id = a.user_id
   where a.code_hash = $1 and a.device_code_hash is null`,
).returning<CodeRow>()

export interface CodeExchange {
  /** The ID of the request. */
  readonly id: string
  readonly session_id: string
  readonly grant: ClientGrant
  /** The method of this sign-in, in addition to how the user signed in here. */
  readonly method: Amr
  readonly user_agent: string
  readonly ip: string
  readonly audit: NewAuditEntry
  readonly now: Date
}

/**
 * Opens the session of a client. Returns no row if the code was used in the meantime, or if the session in which
 * the user had approved the request has ended: a global sign-out must not leave codes that open sessions.
 */
export const exchangeCode = statement(
  'exchange_oauth_code',
  object<CodeExchange>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id text, session_id uuid, "grant" jsonb,
       method jsonb, user_agent text, ip text, audit jsonb, now timestamptz)
   ), a as (
     update {ns}.oauth_authorizations a set status = 'exchanged', session_id = p.session_id
     from p where a.id = p.id and a.status = 'approved' and (a.approved_in is null or exists (
       select from {ns}.sessions s where s.id = a.approved_in and s.revoked_at is null))
     returning a.*
   ), opened as (
     insert into {ns}.sessions (id, user_id, aal, amr, user_agent, ip, oauth_client_id, oauth_grant,
       created_at, updated_at)
     select a.session_id, a.user_id, a.aal, a.amr || p.method, p.user_agent, p.ip, a.client_id,
       p.grant, p.now, p.now
     from a cross join p
     returning *
   ), ${logAction('a')}
   select ${selectUser('u')}, ${selectSession('o')}
   from opened o join {ns}.users u on u.id = o.user_id`,
).returning<SessionRow>()

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

interface PolledRow extends ExchangeableRow {
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
