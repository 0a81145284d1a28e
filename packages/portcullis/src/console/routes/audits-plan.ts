import { ConsoleError } from '../errors.ts'
import { parseHeaders } from '../request-headers.ts'

/** The options of the audit form. */
export interface AuditSettings {
  readonly url: string
  /** One `Name: value` per line. */
  readonly headers?: string
  readonly profile: AuditProfile
  readonly extended: boolean
}

export type AuditProfile = 'classic' | '2026'

/** The validated settings. */
export interface AuditPlan {
  readonly url: string
  /** May contain secrets, so they are sent only to the audited server. */
  readonly headers: Readonly<Record<string, string>>
  readonly profile: AuditProfile
  readonly extended: boolean
}

export const auditSettingsSchema = {
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

/** @throws {ConsoleError} with a message that says how to fix the input. */
export function parseAuditSettings(settings: AuditSettings): AuditPlan {
  const { profile, extended, headers = '' } = settings
  return {
    url: parseUrl(settings.url.trim()),
    headers: parseHeaders(headers, reserved),
    profile,
    extended,
  }
}

function parseUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw refuse('bad_url', 'Enter a complete URL, such as http://localhost:4000/graphql.')
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('bad_url', 'Remove the credentials from the URL and send them as a header.')
  }
  url.hash = ''
  return url.href
}

const reserved = { names: /^(?:accept|content-type)$/i, owner: 'the audits' }

function refuse(code: string, message: string): ConsoleError {
  return new ConsoleError(400, code, message)
}
