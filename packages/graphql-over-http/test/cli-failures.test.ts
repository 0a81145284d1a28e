import assert from 'node:assert/strict'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createSelfSigned } from '../../../examples/graphql/self-signed.ts'
import { type CommandRun, listen, runAudit, runCommand } from './support/audit-command.ts'
import { startAuditServer } from './support/audit-server.ts'

type Run = (args: readonly string[]) => Promise<CommandRun>

/**
 * Checks that the command prints nothing on standard output and one line on standard error, and
 * exits with 2.
 */
async function assertSentence(
  args: readonly string[],
  sentence: RegExp,
  run: Run = runAudit,
): Promise<void> {
  const { code, stdout, stderr } = await run(args)
  assert.match(stderr, sentence)
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
  assert.equal(stdout, '')
  assert.equal(code, 2)
}

async function findFreePort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A server with a self-signed certificate. */
async function listenTls(t: TestContext): Promise<string> {
  const server = createTlsServer(createSelfSigned('localhost'), (_, response) => response.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return `127.0.0.1:${port}/graphql`
}

describe('one sentence and exit code 2', { concurrency: 2 }, () => {
  test('when nothing listens', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}/graphql`
    await assertSentence(
      ['audit', url],
      /^\S+ refuses connections: is the server running/,
      runCommand,
    )
  })

  test('when the host is unknown', async () => {
    await assertSentence(
      ['audit', 'http://no-such-host.invalid/graphql'],
      /^http:\/\/no-such-host\.invalid\/graphql cannot be found: the host name does not resolve/,
    )
  })

  test('when the certificate is not trusted', async (t) => {
    const address = await listenTls(t)
    await assertSentence(
      ['audit', `https://${address}`],
      /^\S+ has a TLS certificate that is not trusted here: set NODE_EXTRA_CA_CERTS/,
    )
  })

  test('when TLS is spoken to a server that does not speak it', async (t) => {
    const url = await listen(t, (_, response) => response.end())
    await assertSentence(
      ['audit', url.replace('http:', 'https:')],
      /^\S+ does not complete the TLS handshake: .* try http:/,
    )
  })

  test('when the server speaks only TLS', async (t) => {
    const address = await listenTls(t)
    await assertSentence(
      ['audit', `http://${address}`],
      /^\S+ closed the connection without responding: if it speaks TLS, try https:/,
    )
  })

  test('when there is no HTTP', async (t) => {
    const server = createTcpServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    await assertSentence(
      ['audit', `http://127.0.0.1:${port}/`],
      /^\S+ does not respond with HTTP: is this the right port\?/,
    )
  })

  test('when the port is for another protocol', async () => {
    await assertSentence(
      ['audit', 'http://127.0.0.1:6000/graphql'],
      /^\S+ has a port that web clients refuse: use another port\./,
    )
  })

  test('when the server does not respond in time', async (t) => {
    const url = await listen(t, () => {})
    await assertSentence(
      ['audit', url, '--timeout', '0.3'],
      /^\S+ did not respond within 0\.3 seconds: try a longer --timeout/,
    )
  })

  test('when an audit gets no response in time', async (t) => {
    const url = await listen(t, (request, response) => {
      if (request.headers.accept?.includes('q=0.9')) response.end('{"data":{}}')
    })
    const args = ['audit', url, '--timeout', '0.3']
    // Requests that are still open must not keep the process alive.
    await assertSentence(args, /did not respond within 0\.3 seconds/, runCommand)
  })

  const answers = [
    [404, 'text/plain', 'no', /responded with 404 Not Found: is the path right\?/],
    [401, 'text/plain', 'no', /responded with 401 Unauthorized: pass credentials, .*--header/],
    [403, 'application/json', '{"errors":[]}', /responded with 403 Forbidden: pass .*--header/],
    [
      200,
      'text/html',
      '<h1>Shop</h1>',
      /responded with 200 OK and an HTML page instead of GraphQL/,
    ],
    [429, 'text/plain', 'no', /429 Too Many Requests: raise its limit for this address/],
    [503, 'text/plain', 'no', /responded with 503 Service Unavailable and no GraphQL body/],
    [200, 'application/json', '{"status":"up"}', /application\/json and no GraphQL body/],
    [200, 'application/json', '[1]', /no GraphQL body: is this the address of a GraphQL server\?/],
  ] as const
  for (const [status, type, body, sentence] of answers) {
    test(`when the server responds with ${status} ${type} ${body}`, async (t) => {
      const url = await listen(t, (_, response) => {
        response.writeHead(status, { 'content-type': type })
        response.end(body)
      })
      await assertSentence(['audit', url, '--json'], sentence)
    })
  }

  test('when the server redirects, without its control sequences', async (t) => {
    const url = await listen(t, (_, response) => {
      response.writeHead(301, { location: 'https://example.com/graphql\u009b31m' })
      response.end()
    })
    await assertSentence(
      ['audit', url],
      /^\S+ redirects to https:\/\/example\.com\/graphql31m: audit that address instead\.$/m,
    )
  })

  test('when the page cannot be written', async (t) => {
    const server = await startAuditServer()
    t.after(() => server.close())
    const file = join(tmpdir(), 'no', 'such', 'folder', 'report.html')
    await assertSentence(
      ['audit', server.url, '--html', file],
      /^The report page could not be written to \S+ \(ENOENT\)/,
    )
  })

  test('for invalid arguments, with a reference to the help', async () => {
    const { code, stdout, stderr } = await runCommand(['audit', '--colour', 'x'])
    assert.equal(stderr, 'Unknown option --colour.\nSee: graphql-over-http audit --help\n')
    assert.deepEqual([code, stdout], [2, ''])
  })
})
