import { parseRecordedRequest, type RecordedRequest } from '@portcullis/ratelimit/rules'
import { ConsoleError } from '../errors.ts'
import { callUpstream } from '../upstream.ts'
import { type DebugTarget, readDebugPage, serviceName, toTokenHeaders } from './statistics.ts'

/** The service keeps at most 64 MiB of requests per worker; the console replays fewer. */
const mostRequests = 50_000
const maxBytes = 32 * 1024 * 1024

/** Returns the latest requests that the service has recorded, ordered by time; if there are none, the reason. */
export async function readRecordedRequests(
  target: DebugTarget,
): Promise<readonly RecordedRequest[] | string> {
  const workers = await readWorkerNumbers(target)
  const headers = toTokenHeaders(target)
  const paths =
    workers.length === 0 ? ['/decisions'] : workers.map((number) => `/decisions?worker=${number}`)
  const requests: RecordedRequest[] = []
  for (const path of paths) {
    const answer = await callUpstream(serviceName, `${target.debugUrl}${path}`, {
      headers,
      maxBytes,
    })
    const text = await answer.text()
    if (answer.status === 403) return text.trim()
    // The debug port responds to unknown paths with a list of its pages.
    if (!answer.ok || text.startsWith('/')) return notRecorded
    for (const line of text.split('\n')) {
      const request = line === '' ? undefined : parseRecordedRequest(line)
      if (request !== undefined) requests.push(request)
    }
  }
  if (requests.length === 0)
    return 'The service has not received any requests since it was started.'
  return requests.sort((a, b) => a.timeMs - b.timeMs).slice(-mostRequests)
}

const notRecorded =
  'The service does not record its decisions. Start it with DEBUG_RECORDED_DECISIONS=20000 to see here which requests a change would decide differently.'

/** Returns nothing if the service has a single process, which has no such page. */
async function readWorkerNumbers(target: DebugTarget): Promise<readonly string[]> {
  try {
    const text = await readDebugPage(target.debugUrl, '/workers', {
      headers: toTokenHeaders(target),
    })
    return [...text.matchAll(/^worker (\d+): /gm)].map(([, number = '']) => number)
  } catch (error) {
    if (error instanceof ConsoleError && error.code === 'upstream_refused') return []
    throw error
  }
}
