import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResolvedAddress } from '../../src/outgoing/guarded-fetch.ts'
import { createHttpTransport } from '../../src/plugins/hooks/http-transport.ts'
import { openHookReceiver } from '../support/hook-receiver.ts'

test('no hook on an internal address is called, whatever DNS returns (property 29)', async (t) => {
  const receiver = await openHookReceiver(t)
  const addresses: Readonly<Record<string, readonly string[]>> = {
    'inside.example': ['127.0.0.1'],
    'mixed.example': ['1.1.1.1', '127.0.0.1'],
    'six.example': ['::1'],
    'mapped.example': ['::ffff:127.0.0.1'],
    'metadata.example': ['169.254.169.254'],
  }
  const resolve = async (host: string): Promise<readonly ResolvedAddress[]> =>
    (addresses[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const send = (host: string, isInternalAllowed: boolean) =>
    createHttpTransport({
      target: { kind: 'http', url: `http://${host}:${receiver.port}/`, isInternalAllowed },
      secrets: [],
      now: Date.now,
      limits: { pauseMs: 1 },
      resolve,
    })({}, 'id')
  const refused = {
    code: 'unexpected_failure',
    message: 'Hook is at an address that is not permitted',
  }
  for (const host of Object.keys(addresses)) {
    await assert.rejects(send(host, false), refused, host)
  }
  await assert.rejects(send('metadata.example', true), refused)
  assert.equal(receiver.requests.length, 0)
  // A host in AUTH_HOOK_ALLOWED_HOSTS may be internal.
  await send('inside.example', true)
  assert.equal(receiver.requests.length, 1)
})
