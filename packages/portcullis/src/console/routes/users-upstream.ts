import { ConsoleError } from '../errors.ts'
import { parseObject } from '../health/index.ts'
import { type AdminEndpoint, type CheckedRequest, text, yesOrNo } from './admin-endpoints.ts'

/** Parameters that select and sort users. Only the auth server of Portcullis has them. */
const selectionParameters = [
  'confirmed',
  'banned',
  'anonymous',
  'second_factor',
  'signed_in',
  'provider',
  'created_after',
  'created_before',
  'last_sign_in_after',
  'last_sign_in_before',
  'order_by',
] as const

/**
 * Other auth servers ignore parameters that they do not know, and would return all users. The auth server of
 * Portcullis confirms them with a total, or with a cursor.
 */
function checkSelection(answer: string, { query }: CheckedRequest): void {
  if (!selectionParameters.some((name) => query.get(name))) return
  const { total, pagination } = parseObject(answer) ?? {}
  if (total !== undefined || pagination !== undefined) return
  throw new ConsoleError(
    501,
    'no_selection',
    'This auth server can only search users and sort them by creation time. Remove the filters, and sort by the column Created.',
  )
}

/** Other auth servers would write an ordinary audit entry, so their link is not returned. */
function checkImpersonation(answer: string, { body }: CheckedRequest): void {
  const isWanted = typeof body === 'object' && body !== null && 'impersonation' in body
  if (!isWanted || parseObject(answer)?.['impersonation'] === true) return
  throw new ConsoleError(
    501,
    'no_impersonation',
    'This auth server cannot record an impersonation in its audit log. Generate a sign-in link instead.',
  )
}

const metadata = { type: 'object' } as const

const userFields = {
  email: text,
  phone: text,
  role: text,
  password: text,
  email_confirm: yesOrNo,
  phone_confirm: yesOrNo,
  user_metadata: metadata,
  app_metadata: metadata,
  ban_duration: text,
}

const linkFields = {
  type: text,
  email: text,
  new_email: text,
  password: text,
  data: metadata,
  redirect_to: text,
  impersonation: yesOrNo,
}

const ofUser = '/:user_id'
const upstreamUser = '/admin/users/:user_id'

/** The calls of the Users page. */
export const userEndpoints: readonly AdminEndpoint[] = [
  {
    method: 'GET',
    path: '',
    upstream: '/admin/users',
    query: ['page', 'per_page', 'filter', 'sort', 'limit', 'cursor', ...selectionParameters],
    check: checkSelection,
  },
  { method: 'POST', path: '', upstream: '/admin/users', body: userFields },
  {
    method: 'POST',
    path: '/invite',
    upstream: '/invite',
    query: ['redirect_to'],
    body: { email: text, data: metadata },
  },
  {
    method: 'POST',
    path: '/generate-link',
    upstream: '/admin/generate_link',
    body: linkFields,
    check: checkImpersonation,
  },
  {
    method: 'GET',
    path: '/sign-in-failures',
    upstream: '/admin/sign-in-failures',
    query: ['page', 'per_page'],
  },
  { method: 'GET', path: ofUser, upstream: upstreamUser },
  { method: 'PUT', path: ofUser, upstream: upstreamUser, body: userFields },
  {
    method: 'DELETE',
    path: ofUser,
    upstream: upstreamUser,
    body: { should_soft_delete: yesOrNo },
  },
  { method: 'GET', path: `${ofUser}/factors`, upstream: `${upstreamUser}/factors` },
  {
    method: 'DELETE',
    path: `${ofUser}/factors/:factor_id`,
    upstream: `${upstreamUser}/factors/:factor_id`,
  },
  { method: 'GET', path: `${ofUser}/passkeys`, upstream: `${upstreamUser}/passkeys` },
  {
    method: 'DELETE',
    path: `${ofUser}/passkeys/:passkey_id`,
    upstream: `${upstreamUser}/passkeys/:passkey_id`,
  },
  { method: 'GET', path: `${ofUser}/sessions`, upstream: `${upstreamUser}/sessions` },
  {
    method: 'DELETE',
    path: `${ofUser}/sessions/:session_id`,
    upstream: `${upstreamUser}/sessions/:session_id`,
  },
  { method: 'GET', path: `${ofUser}/grants`, upstream: `${upstreamUser}/oauth/grants` },
  {
    method: 'DELETE',
    path: `${ofUser}/grants`,
    upstream: `${upstreamUser}/oauth/grants`,
    query: ['client_id'],
  },
]

export type { SignInFailure } from '../overview/sign-ins.ts'

/** A user as the auth server returns it; only the fields that the page shows. */
export interface User {
  readonly id: string
  readonly role: string
  /** Empty if the user has none. */
  readonly email: string
  readonly phone: string
  readonly new_email?: string
  readonly email_confirmed_at?: string
  readonly phone_confirmed_at?: string
  readonly confirmed_at?: string
  readonly invited_at?: string
  readonly last_sign_in_at?: string
  readonly banned_until?: string
  readonly deleted_at?: string
  readonly created_at: string
  readonly updated_at: string
  readonly is_anonymous: boolean
  readonly app_metadata: Metadata
  readonly user_metadata: Metadata
  readonly identities: readonly Identity[]
  readonly factors?: readonly Factor[]
}

export type Metadata = Readonly<Record<string, unknown>>

export interface Identity {
  readonly identity_id: string
  /** The id at the provider. */
  readonly id: string
  readonly provider: string
  readonly email?: string
  readonly created_at: string
  readonly last_sign_in_at?: string
}

export interface Factor {
  readonly id: string
  readonly friendly_name?: string
  readonly factor_type: string
  readonly status: 'verified' | 'unverified'
  readonly phone: string
  readonly created_at: string
  readonly last_challenged_at: string | null
}

export interface Passkey {
  readonly id: string
  readonly friendly_name: string
  readonly created_at: string
  readonly last_used_at?: string
}

export interface Session {
  readonly id: string
  /** Such as `Firefox on Windows`. */
  readonly device: string
  readonly user_agent: string
  readonly ip: string
  readonly aal: string
  readonly created_at: string
  readonly last_used_at: string
  readonly not_after?: string
}

/** What a user has granted to an OAuth client. */
export interface Grant {
  readonly client: {
    /** A UUID, or the URL of the document that describes the client. */
    readonly id: string
    readonly name?: string
    readonly uri?: string
  }
  readonly scopes: readonly string[]
  readonly resources: readonly string[]
  readonly granted_at: string
}

export interface GeneratedLink {
  readonly action_link: string
  readonly email_otp: string
  readonly verification_type: string
  readonly redirect_to: string
}
