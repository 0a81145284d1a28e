/** A call of the page, and the one endpoint of the auth server behind it. */
export interface UserEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below `/api/users`. Every parameter is a UUID. */
  readonly path: string
  readonly upstream: string
  /** The parameters that are handed on. */
  readonly query?: readonly string[]
  /** The fields of the body that are handed on. */
  readonly body?: Readonly<Record<string, object>>
}

const text = { type: 'string' } as const
const yesOrNo = { type: 'boolean' } as const
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
}

const ofUser = '/:user_id'
const upstreamUser = '/admin/users/:user_id'

/** With the console's key one can do anything to anybody: this is all that a page can do with it. */
export const userEndpoints: readonly UserEndpoint[] = [
  {
    method: 'GET',
    path: '',
    upstream: '/admin/users',
    query: ['page', 'per_page', 'filter', 'sort', 'limit', 'cursor'],
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
]
