/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AuditResult, serverAudits } from '../../src/audits/index.ts'
import { createAuditFetch } from '../support/audit-server.ts'

const url = 'http://host/graphql'

test('serverAudits gives an iterable of audits, each with a name and a function', async () => {
  const answers = [
    createAuditFetch(),
    () => new Response('{}', { status: 500, headers: { 'content-type': 'text/plain' } }),
  ]
  const seen = new Set<AuditResult['status']>()
  for (const fetchFn of answers) {
    for (const audit of serverAudits({ url, fetchFn })) {
      assert.equal(typeof audit.name, 'string')
      const pending = audit.fn()
      assert.ok(pending instanceof Promise)
      const result = await pending
      seen.add(result.status)
      if (result.status === 'ok') {
        assert.equal('reason' in result, false)
        continue
      }
      assert.match(result.reason, /\w/)
      // A recommendation is a warning, a requirement an error.
      assert.equal(result.status, audit.name.startsWith('MUST ') ? 'error' : 'warn')
      assert.ok(result.body instanceof ReadableStream)
      await result.body.cancel()
    }
  }
  assert.deepEqual([...seen].sort(), ['error', 'ok', 'warn'])
})

test('the audits send all their requests through fetchFn, to the url', async (t) => {
  const globalFetch = t.mock.method(globalThis, 'fetch', () => assert.fail('the global fetch'))
  const addresses: string[] = []
  const answer = createAuditFetch()
  const audits = serverAudits({
    url,
    fetchFn: (address, init) => {
      addresses.push(address)
      return answer(address, init)
    },
  })
  for (const { fn } of audits) assert.equal((await fn()).status, 'ok')
  assert.equal(addresses.length, 61)
  for (const address of addresses) assert.equal(address.split('?')[0], url)
  assert.equal(globalFetch.mock.callCount(), 0)
})
