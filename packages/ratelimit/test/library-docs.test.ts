// Compares docs/ratelimit-library.md with the code. scripts/test/documented-code.test.ts runs its code
// blocks.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRateLimiter, ipKey, StoreError, secretKey } from '@portcullis/ratelimit'
import { limitRequests } from '@portcullis/ratelimit/use/fetch'
import { toMessage } from '@portcullis/service-kit/text/reason'

const docs = join(import.meta.dirname, '../../../docs')
const page = readFileSync(join(docs, 'ratelimit-library.md'), 'utf8')

/** The names in the first column of a table between two comments. */
function readOptions(name: string): string[] {
  const table = page.split(`<!-- ${name} -->`)[1]?.split(`<!-- /${name} -->`)[0] ?? ''
  const cells = [...table.matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = '']) => cell)
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, option = '']) => option))
}

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return toMessage(error)
  }
  return ''
}

/** An unknown name makes the message list all names. */
function listNames(message: string): string[] {
  return (/[Tt]he options are (?<names>[\w, ]+)/.exec(message)?.groups?.['names'] ?? '').split(', ')
}

const limiter = createRateLimiter({ limits: { user: '2/day' } })
const keys = () => ({ user: 'ada' })
const create = (options: object) => () => createRateLimiter(options as never)
const limit = (options: object) => () => limitRequests(options as never, () => new Response())

test('the tables list every option of the limiter and of the middlewares', () => {
  const ofLimiter = listNames(messageOf(create({ xyzzyxyzzy: 1 })))
  assert.deepEqual(readOptions('limiter options').sort(), ofLimiter.sort())
  const ofMiddleware = listNames(messageOf(limit({ xyzzyxyzzy: 1 })))
  assert.deepEqual(readOptions('middleware options').sort(), ofMiddleware.sort())
})

test('the messages of typical mistakes are those of the code', async () => {
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const gone = { limit: () => Promise.reject(new StoreError('connection refused')) }
  const closed = 'redis://127.0.0.1:1'
  const outage = Promise.withResolvers<void>()
  const remote = createRateLimiter({
    limits: { ip: '1/day' },
    store: closed,
    logger: { warn },
    onOutage: () => outage.resolve(),
  })
  const unmatched = createRateLimiter({ limits: { user: '1/day' }, logger: { warn } })
  await unmatched.limit({ usr: 'ada' } as never)
  await assert.rejects(remote.limit({ ip: '192.0.2.1' }), StoreError)
  // On a busy machine the call reaches its deadline before the connection is refused.
  await outage.promise
  const request = new Request('http://localhost/', { headers: { 'x-forwarded-for': '192.0.2.1' } })
  await limitRequests({ limiter: gone, warn, keys }, () => new Response())(request)
  const byProxy = limitRequests<[{ remoteAddr: { hostname: string } }], Request, 'user'>(
    { limiter, warn, keys: () => ({ user: ipKey('192.0.2.9') }) },
    () => new Response(),
  )
  await byProxy(request, { remoteAddr: { hostname: '192.0.2.9' } })
  await remote.close()

  const messages = [
    messageOf(create({ limits: { ip: '1/day' }, stroe: '' })),
    messageOf(limit({ limiter, keys, onlimited: () => {} })),
    messageOf(limit({ limiter })),
    messageOf(limit({ limiter, keys: {} })),
    messageOf(limit({ limiter, keys, headers: 'draft-9' })),
    messageOf(() => secretKey(undefined as never)),
    ...warnings,
  ]
  const table = page.split('## Typical mistakes')[1] ?? ''
  const rows = [...table.matchAll(/^\| `(.+?)` \| /gm)].map(([, text = '']) => text)
  assert.ok(rows.length >= 9)
  for (const row of rows) {
    const parts = row.split('…').map((part) => part.trim())
    const isReal = messages.some((message) => parts.every((part) => message.includes(part)))
    assert.ok(isReal, `no such message: ${row}\nThere are:\n${messages.join('\n')}`)
  }
})

test('every link on the page leads to a file', () => {
  for (const [, link = ''] of page.matchAll(/\]\((?!https:)([^)#]+)/g)) {
    assert.ok(existsSync(join(docs, link)), link)
  }
})
