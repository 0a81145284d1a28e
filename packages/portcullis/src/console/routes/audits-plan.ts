import { ConsoleError } from '../errors.ts'

/** What the page asks for. */
export interface AuditOrder {
  readonly url: string
  /** As people write them: one `Name: value` per line. */
  readonly headers?: string
  readonly profile: AuditProfile
  readonly extended: boolean
}

export type AuditProfile = 'classic' | '2026'

/** The order, checked. */
export interface AuditPlan {
  readonly url: string
  /** May hold secrets: they go to the audited server and nowhere else. */
  readonly headers: Readonly<Record<string, string>>
  readonly profile: AuditProfile
  readonly extended: boolean
}

export const auditOrderSchema = {
  type: 'object',
  required: ['url', 'profile', 'extended'],
  additionalProperties: false,
  properties: {
    url: { type: 'string', maxLength: 2_000 },
    headers: { type: 'string', maxLength: 20_000 },
    profile: { enum: ['classic', '2026'] },
    extended: { type: 'boolean' },
  },
} as const

/** @throws {ConsoleError} with what to write instead. */
export function parseAuditOrder(order: AuditOrder): AuditPlan {
  const { profile, extended, headers = '' } = order
  return { url: parseUrl(order.url.trim()), headers: parseHeaders(headers), profile, extended }
}

function parseUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw refuse('bad_url', 'Write a whole web address, such as http://localhost:4000/graphql.')
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('bad_url', 'Leave the credentials out of the address and send them as a header.')
  }
  url.hash = ''
  return url.href
}

function parseHeaders(text: string): Readonly<Record<string, string>> {
  const headers = new Headers()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trim()
    // The value may be a secret: no sentence repeats it.
    if (name === '') {
      throw refuse('bad_header', `Line ${index + 1} of the headers is not written as Name: value.`)
    }
    if (/^(?:accept|content-type)$/i.test(name)) {
      throw refuse('bad_header', `The audits set the header ${name} themselves. Take it out.`)
    }
    try {
      headers.append(name, line.slice(colon + 1).trim())
    } catch {
      throw refuse(
        'bad_header',
        `Line ${index + 1} of the headers has characters that HTTP does not allow.`,
      )
    }
  }
  return Object.fromEntries(headers)
}

function refuse(code: string, message: string): ConsoleError {
  return new ConsoleError(400, code, message)
}
