import { parseTime } from '@portcullis/service-kit/text/time'
import { invalid } from '../../../errors.ts'
import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { parsePage, toPageHeaders } from '../../../http/pages.ts'
import { isStorableText } from '../../../stored-json.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import {
  type AuditSearch,
  countSignIns,
  findSignInFailures,
  parseBefore,
  searchAudit,
} from '../audit-search.ts'

const path = '/admin/audit'

export const adminAudit = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Returns the audit log, newest entries first',
  allowed: 'admin',
  query: {
    page: 'Page number, starting at 1',
    per_page: 'Entries per page. Default: 50',
    query:
      'author:, action: or type: followed by part of the value, or user: followed by a user ID',
    before: 'Only entries before this time, such as 2026-03-04T00:00:00Z',
  },
  success: {
    status: 200,
    description:
      'An array of entries, with the headers X-Total-Count (an estimate for large logs) and Link',
  },
  async handle({ query }, services) {
    const page = parsePage(query)
    const { query: wanted = '', before = '' } = query
    const { entries, total, isExact, next } = await searchAudit(
      services,
      wanted === '' ? undefined : parseSearch(wanted),
      page,
      before === '' ? undefined : parseBefore(before),
    )
    const same = { ...(wanted !== '' && { query: wanted }), ...(before !== '' && { before }) }
    const headers = toPageHeaders(path, page, total, {
      same,
      next: next ?? null,
      hasLast: isExact && before === '',
    })
    return json(entries, headers)
  },
})

const scopes = ['author', 'action', 'type', 'user'] as const

function parseSearch(query: string): AuditSearch {
  const at = query.indexOf(':')
  const name = query.slice(0, Math.max(at, 0)).trim()
  const text = query.slice(at + 1).trim()
  const scope = scopes.find((known) => known === name)
  if (at < 0 || scope === undefined || !isStorableText(text)) {
    throw invalid(`Invalid query scope: ${query}`)
  }
  if (scope === 'user' && !uuidPattern.test(text)) {
    throw invalid(`Invalid query: "${text}" is not a user ID`)
  }
  return { scope, text }
}

export const adminSignIns = defineEndpoint({
  method: 'GET',
  path: '/admin/sign-ins',
  summary:
    'Counts successful and failed sign-ins in steps of ten seconds, and returns when the server started',
  allowed: 'admin',
  query: {
    since: 'Start time, such as 2026-03-04T00:00:00Z. At most a day ago, which is the default',
  },
  success: { status: 200, description: 'Counts by step and outcome, oldest first' },
  async handle({ query: { since = '' } }, services) {
    const sinceMs = since === '' ? undefined : parseTime(since)
    if (since !== '' && sinceMs === undefined)
      throw invalid(`since must be a time such as 2026-03-04T00:00:00Z. Got "${since}"`)
    return json(await countSignIns(services, sinceMs))
  },
})

export const adminSignInFailures = defineEndpoint({
  method: 'GET',
  path: '/admin/sign-in-failures',
  summary: 'Lists failed sign-ins, newest first, including those for addresses without an account',
  allowed: 'admin',
  query: {
    user_id: 'Only failures of this user',
    page: 'Page number, starting at 1',
    per_page: 'Entries per page. Default: 50',
  },
  success: {
    status: 200,
    description: 'An array of failures with name, reason, IP address and times',
  },
  async handle({ query }, services) {
    const page = parsePage(query)
    const { user_id: userId = '' } = query
    if (userId === '') return json(await findSignInFailures(services, page))
    if (!uuidPattern.test(userId)) throw invalid(`"${userId}" is not a user ID`)
    return json(await findSignInFailures(services, page, userId))
  },
})
