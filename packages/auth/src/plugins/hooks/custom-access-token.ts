import type { Claims } from '../../tokens/json-web-token.ts'
import { type HookDefinition, isObject, toHookError } from './hook.ts'

export interface TokenToIssue {
  readonly user_id: string
  readonly claims: Claims
  readonly authentication_method: string
}

/** Claims that every access token must have. */
const required: Readonly<Record<string, 'string' | 'integer' | 'boolean' | 'audience'>> = {
  aud: 'audience',
  exp: 'integer',
  iat: 'integer',
  sub: 'string',
  email: 'string',
  phone: 'string',
  role: 'string',
  aal: 'string',
  session_id: 'string',
  is_anonymous: 'boolean',
}

/** Claims that a hook must not change: the token would no longer match its session. */
const fixed = ['sub', 'session_id'] as const

export const customAccessToken: HookDefinition<TokenToIssue, Claims> = {
  variable: 'CUSTOM_ACCESS_TOKEN',
  purpose: 'changes the claims of access tokens',
  name: 'customize-access-token',
  parseAnswer({ claims }, input) {
    if (!isObject(claims)) throw toHookError('output claims field is missing')
    const faults = [
      ...Object.entries(required).flatMap(([name, type]) => findFlaw(name, type, claims[name])),
      ...fixed.flatMap((name) =>
        claims[name] === input.claims[name] ? [] : [`${name} must not be changed`],
      ),
    ]
    if (faults.length === 0) return claims
    throw toHookError(
      `output claims do not conform to the expected schema: ${[...new Set(faults)].join(', ')}`,
    )
  },
}

function findFlaw(name: string, type: string, value: unknown): string[] {
  if (value === undefined || value === null) return [`${name} is required`]
  return isOf(type, value) ? [] : [`${name} must be of type ${type}`]
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type !== 'audience') return typeof value === type
  return Array.isArray(value)
    ? value.every((each) => typeof each === 'string')
    : typeof value === 'string'
}
