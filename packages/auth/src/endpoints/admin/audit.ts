import { parsePage, toPageHeaders, toSubstringPattern } from '../../core/pagination.ts'
import { isStorableText } from '../../core/storable-json.ts'
import {
  type AuditPageRow,
  type AuditScope,
  listAuditEntries,
  searchAuditEntries,
} from '../../db/audit-log.ts'
import { invalid } from '../../errors.ts'
import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { uuidPattern } from '../../http/guards/bearer.ts'

const path = '/admin/audit'

export const adminAudit = defineEndpoint({
  method: 'GET',
  path,
  summary: 'The audit log, newest first',
  allowed: 'admin',
  query: {
    page: 'The number of the page, from 1',
    per_page: 'Entries on a page; 50 by default',
    query: 'author:, action: or type: and a part of it, or user: and an id',
  },
  success: { status: 200, description: 'Entries; headers X-Total-Count and Link' },
  async handle({ query }, { db }) {
    const page = parsePage(query)
    const { query: wanted = '' } = query
    const search = wanted === '' ? undefined : parseSearch(wanted)
    const rows = await db.run<AuditPageRow>(
      search === undefined ? listAuditEntries : searchAuditEntries[search.scope],
      [page.offset, page.size, ...(search ? [search.wanted] : [])],
    )
    const entries = rows.flatMap(({ total: _, ...entry }) => (entry.id === null ? [] : [entry]))
    const headers = toPageHeaders(path, page, rows[0]?.total ?? 0, {
      ...(wanted !== '' && { query: wanted }),
    })
    return json(entries, headers)
  },
})

interface Search {
  readonly scope: AuditScope
  /** A pattern, or the id of a user. */
  readonly wanted: string
}

function parseSearch(query: string): Search {
  const at = query.indexOf(':')
  const scope = query.slice(0, Math.max(at, 0)).trim()
  const text = query.slice(at + 1).trim()
  if (at < 0 || !isScope(scope) || !isStorableText(text)) {
    throw invalid(`Invalid query scope: ${query}`)
  }
  if (scope !== 'user') return { scope, wanted: toSubstringPattern(text) }
  if (!uuidPattern.test(text)) throw invalid(`Invalid query: "${text}" is not the id of a user`)
  return { scope, wanted: text }
}

function isScope(scope: string): scope is AuditScope {
  return Object.hasOwn(searchAuditEntries, scope)
}
