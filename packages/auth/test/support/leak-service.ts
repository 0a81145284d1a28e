import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface LeakService {
  readonly url: string
  /** Adds a password to the list of leaked ones. */
  leak(password: string): void
  /** The requested prefixes in order. */
  readonly ranges: readonly string[]
  /** Violations of the documented protocol by the server. */
  readonly faults: readonly string[]
  /** When undefined, the service works normally. */
  failure: 'never responds' | 'broken' | undefined
}

/** Responds like haveibeenpwned.com, with padding. */
export async function openLeakService(t: TestContext): Promise<LeakService> {
  const leaked = new Set<string>()
  const ranges: string[] = []
  const faults: string[] = []

  const server = createServer((request, response) => {
    faults.push(...findFaults(request))
    const prefix = request.url?.slice('/range/'.length) ?? ''
    ranges.push(prefix)
    if (service.failure === 'never responds') return
    if (service.failure === 'broken') return response.writeHead(503).end('Unavailable')
    const seen = [...leaked].filter((digits) => digits.startsWith(prefix))
    const lines = [
      ...seen.map((digits) => `${digits.slice(5)}:12`),
      // Padding entries have a count of zero.
      ...Array.from({ length: 20 }, (_, at) => `${toDigits(`${prefix}${at}`).slice(5)}:0`),
    ]
    response.setHeader('content-type', 'text/plain').end(lines.toSorted().join('\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const service: LeakService = {
    url: `http://127.0.0.1:${port}`,
    leak: (password) => void leaked.add(toDigits(password)),
    ranges,
    faults,
    failure: undefined,
  }
  return service
}

export function toDigits(password: string): string {
  return createHash('sha1').update(password).digest('hex').toUpperCase()
}

function findFaults({ method, url = '', headers }: IncomingMessage): readonly string[] {
  return [
    ...(method === 'GET' && /^\/range\/[\dA-F]{5}$/.test(url) ? [] : [`${method} ${url}`]),
    ...(headers['add-padding'] === 'true' ? [] : ['no padding requested']),
    ...(headers['user-agent'] ? [] : ['no user agent']),
  ]
}
