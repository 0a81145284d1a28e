import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { parseCount, parsePage, toPageHeaders } from '../../../http/pagination.ts'
import { listAfter, listPage, parseSort } from '../list-users.ts'

const path = '/admin/users'

export const adminListUsers = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Users of the audience, page by page',
  allowed: 'admin',
  query: {
    page: 'The number of the page, from 1',
    per_page: 'Users on a page; 50 by default',
    filter:
      'A part of the address, of full_name in the metadata or of the phone number, or the first 8 characters or more of the id',
    sort: 'created_at asc, or created_at desc (the default)',
    limit: 'Instead of page: how many users, up to 1000',
    cursor: 'Instead of page: next_cursor of the answer before',
  },
  success: { status: 200, description: 'Users and audience; headers X-Total-Count and Link' },
  async handle({ query, audience }, { db }) {
    const { filter = '' } = query
    const direction = parseSort(query['sort'])
    const list = { audience, filter, direction }
    if (query['limit'] || query['cursor']) {
      const limit = parseCount('limit', query['limit'], 50, 1_000)
      const { users, nextCursor } = await listAfter(db, list, {
        cursor: query['cursor'] ?? '',
        limit,
      })
      const pagination = {
        ...(nextCursor !== undefined && { next_cursor: nextCursor }),
        has_more: nextCursor !== undefined,
      }
      return json({ users, aud: audience, pagination })
    }
    const page = parsePage(query)
    const { users, total, isExact, nextCursor } = await listPage(db, list, page)
    const headers = toPageHeaders(path, page, total, {
      same: {
        ...(filter !== '' && { filter }),
        ...(query['sort'] && { sort: `created_at ${direction}` }),
      },
      ...(nextCursor !== undefined && { next: { limit: page.size, cursor: nextCursor } }),
      hasLast: isExact,
    })
    return json({ users, aud: audience }, headers)
  },
})
