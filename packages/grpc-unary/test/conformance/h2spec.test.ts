import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../interop/programs.ts'
import { openAuthority } from '../support/certificates.ts'
import { openEchoServer } from '../support/echo-server.ts'

// Runs h2spec if it is installed (in PATH, or at the path in H2SPEC):
// go install github.com/summerwind/h2spec/cmd/h2spec@latest
// The cases in conformance.test.ts cover the same and more, without another program.

const run = promisify(execFile)

const h2spec = findProgram('h2spec', 'H2SPEC')
const skip = h2spec ? false : 'h2spec is not installed; see the top of this file'

for (const [what, path] of [
  ['a request that is answered with an error', '/'],
  ['a call', '/test.Echo/Say'],
] as const) {
  test(`h2spec passes completely, strict cases too, with ${what}`, { skip }, async (t) => {
    const { port } = await openEchoServer(t)
    const args = ['--strict', '--host', '127.0.0.1', '--port', String(port), '--path', path]
    const { stdout } = await run(h2spec ?? '', [...args, '--timeout', '10'])
    assert.match(stdout, /\b(\d+) tests, \1 passed, 0 skipped, 0 failed/)
  })
}

test('h2spec passes completely over TLS', { skip }, async (t) => {
  const authority = openAuthority()
  const { port } = await openEchoServer(t, { tls: authority.sign('localhost') })
  const args = ['--strict', '--tls', '--insecure', '--host', 'localhost', '--port', String(port)]
  const { stdout } = await run(h2spec ?? '', [...args, '--timeout', '10'])
  assert.match(stdout, /\b(\d+) tests, \1 passed, 0 skipped, 0 failed/)
})
