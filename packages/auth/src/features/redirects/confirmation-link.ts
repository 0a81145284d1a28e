import type { MailKind } from '../../config/mail-messages.ts'

/** What `GET /verify` gets as its `type`; a message without a link has none. */
const linkTypes: Readonly<Record<MailKind, string | undefined>> = {
  invite: 'invite',
  confirmation: 'signup',
  recovery: 'recovery',
  magic_link: 'magiclink',
  email_change: 'email_change',
  reauthentication: undefined,
}

/** What hooks call a message. */
export function findEmailActionType(kind: string): string | undefined {
  return Object.entries(linkTypes).find(([known]) => known === kind)?.[1]
}

export interface ConfirmationLink {
  readonly kind: MailKind
  /** The public URL of this server, of `toExternalUrl`. */
  readonly externalUrl: string
  /** `MAILER_URLPATHS_…`: a path, or a whole URL. */
  readonly path: string
  /** The link token, with `pkce_` before it where the flow is PKCE. */
  readonly tokenHash: string
  readonly redirectTo: string
}

/** The link of a message, which is also the `action_link` of POST /admin/generate_link. */
export function toConfirmationUrl(link: ConfirmationLink): string {
  const { kind, externalUrl, path, tokenHash, redirectTo } = link
  const type = linkTypes[kind]
  if (type === undefined) throw new TypeError(`The message ${kind} has no link`)
  const query = new URLSearchParams({ token: tokenHash, type, redirect_to: redirectTo })
  const { base, fragment } = splitFragment(joinPath(externalUrl, path))
  const separator = base.includes('?') ? (/[?&]$/.test(base) ? '' : '&') : '?'
  return `${base}${separator}${toReadable(query)}${fragment}`
}

/**
 * All but colons and slashes stays encoded, so that a redirect with a query of its own cannot end the
 * parameter: there are programs that look for `redirect_to=https://…` in the link as it is.
 */
function toReadable(query: URLSearchParams): string {
  return query.toString().replaceAll('+', '%20').replaceAll('%3A', ':').replaceAll('%2F', '/')
}

/**
 * `/verify` below `https://x/auth/v1` is `https://x/auth/v1/verify`, and so is `/auth/v1/verify`:
 * the prefix is neither dropped, as resolving a URL would, nor doubled.
 */
function joinPath(externalUrl: string, path: string): string {
  if (/^https?:\/\//i.test(path)) return path
  const base = new URL(externalUrl)
  const prefix = base.pathname.replace(/\/+$/, '')
  const rooted = `/${path.replace(/^\/+/, '')}`
  const isPrefixed = prefix !== '' && (rooted === prefix || rooted.startsWith(`${prefix}/`))
  return `${base.origin}${isPrefixed ? '' : prefix}${rooted}`
}

function splitFragment(url: string) {
  const at = url.indexOf('#')
  return at < 0 ? { base: url, fragment: '' } : { base: url.slice(0, at), fragment: url.slice(at) }
}

export interface ForwardedHost {
  /** API_EXTERNAL_URL. */
  readonly externalUrl: string
  /** MAILER_EXTERNAL_HOSTS: `auth.example.com`, or with its port. */
  readonly externalHosts: readonly string[]
  /** The headers `X-Forwarded-Host` and `X-Forwarded-Proto`, as they came. */
  readonly host: string | undefined
  readonly proto: string | undefined
}

/**
 * The public URL that links of this request begin with. A host that is not listed is ignored: who
 * sends a request must not decide where its links lead. A path of API_EXTERNAL_URL stays.
 */
export function toExternalUrl(forwarded: ForwardedHost): string {
  const { externalUrl, externalHosts } = forwarded
  const host = toFirst(forwarded.host)
  if (host === '' || !/^[a-z0-9.-]+(?::\d{1,5})?$/.test(host)) return externalUrl
  if (!externalHosts.some((listed) => listed.trim().toLowerCase() === host)) return externalUrl
  const { protocol, pathname } = new URL(externalUrl)
  // Whoever sends a request must not take the encryption away from its links.
  const scheme = toFirst(forwarded.proto) === 'https' ? 'https:' : protocol
  return `${scheme}//${host}${pathname.replace(/\/+$/, '')}`
}

/** Of a list of proxies, the value of the first one. */
function toFirst(header: string | undefined): string {
  return (header?.split(',')[0] ?? '').trim().toLowerCase()
}
