import type { MailKind } from '../../config/mail/messages.ts'

/** The `type` of `GET /verify` for each message; undefined for messages without a link. */
const linkTypes: Readonly<Record<MailKind, string | undefined>> = {
  invite: 'invite',
  confirmation: 'signup',
  recovery: 'recovery',
  magic_link: 'magiclink',
  email_change: 'email_change',
  reauthentication: undefined,
}

/** The type of a message in the payload of hooks. */
export function findEmailActionType(kind: string): string | undefined {
  return Object.entries(linkTypes).find(([known]) => known === kind)?.[1]
}

export interface ConfirmationLink {
  readonly kind: MailKind
  /** The public URL of this server, from `toExternalUrl`. */
  readonly externalUrl: string
  /** `MAILER_URLPATHS_…`: a path or an absolute URL. */
  readonly path: string
  /** The token of the link, with the prefix `pkce_` in a PKCE flow. */
  readonly tokenHash: string
  readonly redirectTo: string
}

/** The link in a message, which is also the `action_link` of POST /admin/generate_link. */
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
 * Decodes only colons and slashes, because some programs look for `redirect_to=https://…` in the
 * link. Everything else stays encoded, so that the query of a redirect URL cannot end the
 * parameter.
 */
function toReadable(query: URLSearchParams): string {
  return query.toString().replaceAll('+', '%20').replaceAll('%3A', ':').replaceAll('%2F', '/')
}

/**
 * Both `/verify` and `/auth/v1/verify` below `https://x/auth/v1` become `https://x/auth/v1/verify`:
 * the prefix is neither dropped, as by URL resolution, nor doubled.
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
  /** MAILER_EXTERNAL_HOSTS: `auth.example.com`, optionally with a port. */
  readonly externalHosts: readonly string[]
  /** The unvalidated headers `X-Forwarded-Host` and `X-Forwarded-Proto`. */
  readonly host: string | undefined
  readonly proto: string | undefined
}

/**
 * The public URL for the links of this request. A host that is not listed is ignored, because
 * clients must not decide where links lead. The path of API_EXTERNAL_URL is kept.
 */
export function toExternalUrl(forwarded: ForwardedHost): string {
  const { externalUrl, externalHosts } = forwarded
  const host = toFirst(forwarded.host)
  if (host === '' || !/^[a-z0-9.-]+(?::\d{1,5})?$/.test(host)) return externalUrl
  if (!externalHosts.some((listed) => listed.trim().toLowerCase() === host)) return externalUrl
  const { protocol, pathname } = new URL(externalUrl)
  // A client must not be able to downgrade its links from https to http.
  const scheme = toFirst(forwarded.proto) === 'https' ? 'https:' : protocol
  return `${scheme}//${host}${pathname.replace(/\/+$/, '')}`
}

/** The first value of a header to which several proxies have added theirs. */
function toFirst(header: string | undefined): string {
  return (header?.split(',')[0] ?? '').trim().toLowerCase()
}
