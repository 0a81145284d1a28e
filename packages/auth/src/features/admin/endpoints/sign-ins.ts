import { invalid } from '../../../errors.ts'
import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { parsePage } from '../../../http/pagination.ts'
import { stepSeconds } from '../../audit/open-sign-in-log.ts'
import {
  listSignInCounts,
  listSignInFailures,
  listUserSignInFailures,
  type SignInCountRow,
  type SignInFailureRow,
} from '../../audit/statements.ts'
import { uuidPattern } from '../../sessions/bearer.ts'

const dayMs = 86_400_000

export const adminSignIns = defineEndpoint({
  method: 'GET',
  path: '/admin/sign-ins',
  summary:
    'How many sign-ins succeeded and failed, in steps of ten seconds, and when the server started',
  allowed: 'admin',
  query: { since: 'A time, such as 2026-03-04T00:00:00Z; up to a day ago, which is the default' },
  success: { status: 200, description: 'Counts by step and outcome, the oldest first' },
  async handle({ query }, { db, now, startedAt }) {
    const { since = '' } = query
    const firstMs = since === '' ? now() - dayMs : Date.parse(since)
    if (Number.isNaN(firstMs)) throw invalid(`since must be a time, and is "${since}"`)
    const first = new Date(Math.max(firstMs, now() - dayMs))
    return json({
      started_at: new Date(startedAt).toISOString(),
      now: new Date(now()).toISOString(),
      step_seconds: stepSeconds,
      counts: await db.run<SignInCountRow>(listSignInCounts, [first]),
    })
  },
})

export const adminSignInFailures = defineEndpoint({
  method: 'GET',
  path: '/admin/sign-in-failures',
  summary: 'Sign-ins that failed, the newest first, also those of addresses without an account',
  allowed: 'admin',
  query: {
    user_id: 'Only those of this user',
    page: 'The number of the page, from 1',
    per_page: 'Entries on a page; 50 by default',
  },
  success: { status: 200, description: 'Names, reasons, addresses and times' },
  async handle({ query }, { db }) {
    const { offset, size } = parsePage(query)
    const { user_id: userId = '' } = query
    if (userId === '') {
      return json(await db.run<SignInFailureRow>(listSignInFailures, [offset, size]))
    }
    if (!uuidPattern.test(userId)) throw invalid(`"${userId}" is not the id of a user`)
    return json(await db.run<SignInFailureRow>(listUserSignInFailures, [offset, size, userId]))
  },
})
