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

const path = '/admin/audit'

export const adminAudit = defineEndpoint({
  method: 'GET',
  path,
  summary: 'The audit log, newest first',
  allowed: 'admin',
  query: {
    page: 'The number of the page, from 1',
    per_page: 'Entries on a page; 50 by default',
    query: 'author:, action: or type: and a part of it',
  },
  success: { status: 200, description: 'Entries; headers X-Total-Count and Link' },
  async handle({ query }, { db }) {
    const page = parsePage(query)
    const { query: wanted = '' } = query
    const search = wanted === '' ? undefined : parseSearch(wanted)
    const rows = await db.run<AuditPageRow>(
      search === undefined ? listAuditEntries : searchAuditEntries[search.scope],
      [page.offset, page.size, ...(search ? [toSubstringPattern(search.text)] : [])],
    )
    const entries = rows.flatMap(({ total: _, ...entry }) => (entry.id === null ? [] : [entry]))
    const headers = toPageHeaders(path, page, rows[0]?.total ?? 0, {
      ...(wanted !== '' && { query: wanted }),
    })
    return json(entries, headers)
  },
})

function parseSearch(query: string): { readonly scope: AuditScope; readonly text: string } {
  const at = query.indexOf(':')
  const scope = query.slice(0, Math.max(at, 0)).trim()
  const text = query.slice(at + 1).trim()
  if (at < 0 || !isScope(scope) || !isStorableText(text)) {
    throw invalid(`Invalid query scope: ${query}`)
  }
  return { scope, text }
}

function isScope(scope: string): scope is AuditScope {
  return Object.hasOwn(searchAuditEntries, scope)
}
