import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { TestContext } from 'node:test'
import { openConsole } from '../../src/console/console.ts'

/**
 * Opens a console with an auth server that the test implements. The headers are those that the
 * console's API requires.
 */
export async function openConsoleWithAuth(t: TestContext, answer: RequestListener) {
  const auth = createServer(answer)
  await once(auth.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    auth.closeAllConnections()
    auth.close()
  })
  const address = auth.address()
  assert.ok(typeof address === 'object' && address)
  const running = await openConsole({
    ...{ host: '127.0.0.1', port: 0, token: 'let-me-in', version: '0' },
    auth: { url: `http://127.0.0.1:${address.port}`, key: async () => 'secret' },
  })
  t.after(() => running[Symbol.asyncDispose]())
  const entry = await fetch(running.entryUrl, { redirect: 'manual' })
  const cookie = entry.headers.get('set-cookie')?.split(';')[0] ?? ''
  return { url: running.url, headers: { cookie, 'x-portcullis-console': '1' } }
}
