import { parseTime } from '@portcullis/service-kit/text/time'
import { nilId } from '../../../db/nil-id.ts'
import { invalid } from '../../../errors.ts'
import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { parseCount } from '../../../http/pages.ts'
import { parseAddress } from '../../../http/stages/client-address.ts'
import { isStorableText } from '../../../stored-json.ts'
import { failureReasons } from '../../audit/sign-in-log.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { parseBefore } from '../audit-search.ts'
import { parseTailCursor } from '../event-cursors.ts'
import {
  type EventAction,
  type EventFilter,
  eventActions,
  listEventPage,
  tailEventsAfter,
} from '../events.ts'

type Query = Readonly<Record<string, string | undefined>>

const mostEvents = 1_000

export const adminEvents = defineEndpoint({
  method: 'GET',
  path: '/admin/events',
  summary:
    'Searches the audit log and the failed sign-ins together, newest first. With after, returns the events since an earlier response, oldest first',
  allowed: 'admin',
  query: {
    user: 'Only events of the user with this ID',
    name: 'Only events of the user with this email address or phone number. If there is no such user, events whose name contains the text',
    address: 'Only events from this IP address',
    action: 'Only this action, such as login; login_failed for failed sign-ins',
    reason: 'Only sign-ins that failed for this reason, such as wrong_password',
    failed: 'true: only failed sign-ins',
    tokens: 'true: include token refreshes and revocations',
    from: 'Only events at or after this time, such as 2026-03-04T00:00:00Z',
    to: 'Only events before this time',
    limit: `Number of events, up to ${mostEvents}. Default: 50`,
    before: 'next of an earlier response, to get older events',
    after: 'latest of an earlier response, to get the events since then',
  },
  success: {
    status: 200,
    description:
      'events; next, the value of before for older events, or null; latest, the value of after for newer events. A page may have fewer events than limit even if next is set',
  },
  async handle({ query }, services) {
    const filter = parseFilter(query)
    const size = parseCount('limit', query['limit'], 50, mostEvents)
    const { after = '', before = '', to = '' } = query
    if (after !== '') {
      for (const name of ['before', 'to']) {
        if (query[name]) throw invalid(`${name} cannot be combined with after`)
      }
      const position = parseTailCursor('after', after)
      const tail = await tailEventsAfter(services, filter, position, size)
      return json({ events: tail.events, next: null, latest: tail.latest })
    }
    const end = { time: to === '' ? 'infinity' : checkTime('to', to), id: nilId }
    const start = before === '' ? end : parseBefore(before)
    const { events, next, latest } = await listEventPage(services, filter, start, size)
    return json({ events, next: next ? `${next.time}_${next.id}` : null, latest })
  },
})

/** Empty values count as omitted. @throws {ApiError} names the parameter. */
function parseFilter(query: Query): EventFilter {
  const { user = '', name = '', address = '', action = '', reason = '', from = '' } = query
  if (user !== '' && !uuidPattern.test(user)) throw invalid(`user must be a user ID. Got "${user}"`)
  if (user !== '' && name !== '') throw invalid('user and name cannot be combined')
  if (!isStorableText(name)) throw invalid('name contains a character that cannot be stored')
  const ip = address === '' ? undefined : parseAddress(address.trim())
  if (address !== '' && ip === undefined) {
    throw invalid(`address must be an IP address such as 203.0.113.5. Got "${address}"`)
  }
  checkChoice('action', action, eventActions)
  checkChoice('reason', reason, failureReasons)
  const isFailed = parseFlag('failed', query['failed'])
  if (action !== '' && action !== 'login_failed' && (isFailed || reason !== '')) {
    const other = isFailed ? 'failed=true' : 'reason'
    throw invalid(`action=${action} cannot be combined with ${other}, which selects login_failed`)
  }
  return {
    userId: user === '' ? undefined : user,
    name: name.trim() === '' ? undefined : name.trim(),
    address: ip,
    action: action === '' ? undefined : (action as EventAction),
    reason: reason === '' ? undefined : reason,
    isFailed,
    hasTokens: parseFlag('tokens', query['tokens']),
    from: from === '' ? undefined : checkTime('from', from),
  }
}

function checkChoice(name: string, text: string, choices: readonly string[]): void {
  if (text === '' || choices.includes(text)) return
  throw invalid(`${name} must be one of ${choices.join(', ')}. Got "${text}"`)
}

function parseFlag(name: string, text = ''): boolean {
  if (text === '' || text === 'false') return false
  if (text === 'true') return true
  throw invalid(`${name} must be true or false. Got "${text}"`)
}

function checkTime(name: string, text: string): string {
  const hasTime = text.length > '2026-03-04'.length
  if (hasTime && parseTime(text) !== undefined) return text
  throw invalid(`${name} must be a time such as 2026-03-04T00:00:00Z. Got "${text}"`)
}
