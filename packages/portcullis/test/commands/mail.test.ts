import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { mail } from '../../src/commands/mail.ts'

async function runMail(args: readonly string[], url = '') {
  let [stdout, stderr] = ['', '']
  const code = await mail.run(args, {
    stdout: { write: (written) => (stdout += written) },
    stderr: { write: (written) => (stderr += written) },
    env: { PORTCULLIS_AUTH_URL: url, PORTCULLIS_AUTH_KEY: 'key' },
    isTerminal: false,
  })
  return { code, stdout, stderr }
}

/** Opens a server that gives the same answer to every request. */
async function openServer(t: TestContext, status: number, body: unknown) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${text}`)
      response.writeHead(status).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, requests }
}

test('mail test sends the chosen template, and prints the response', async (t) => {
  const answer = { template: 'recovery', email: 'ada@example.com' }
  const { url, requests } = await openServer(t, 200, answer)
  const args = ['test', 'ada@example.com', '--template', 'recovery']
  const printed = await runMail(args, url)
  assert.deepEqual(printed, {
    ...{ code: 0, stderr: '' },
    stdout: 'The mail server accepted the template recovery for ada@example.com\n',
  })
  const json = await runMail([...args, '--json'], url)
  assert.deepEqual(JSON.parse(json.stdout), answer)
  const body = JSON.stringify(answer)
  assert.deepEqual(new Set(requests), new Set([`POST /admin/mail-templates/test ${body}`]))
})

test('mail test prints why the email was not sent', async (t) => {
  const msg = 'The mail server did not accept the message: 550 no such user'
  const refused = await openServer(t, 500, { msg })
  const { code, stderr } = await runMail(['test', 'ada@example.com'], refused.url)
  assert.equal(code, 1)
  assert.match(
    stderr,
    /status 500: The mail server did not accept the message: 550 no such user\n$/,
  )
  const other = await openServer(t, 404, {})
  const unknown = await runMail(['test', 'ada@example.com'], other.url)
  assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /^This server cannot send test emails\. Supabase Auth has no/)
})

for (const [args, reason] of [
  [[], /^The verb is missing\. Verbs: test\.\n/],
  [['tset'], /^Unknown verb "tset"\..* Did you mean test\?\n/],
  [['test'], /^The email address is missing\.\n/],
  [['test', 'a@b.example', 'c@d.example'], /^Unexpected argument "c@d\.example"\.\n/],
  [['test', 'a@b.example', '--nope'], /^Unknown option --nope\.\n/],
] as const) {
  test(`mail ${args.join(' ')} reports the error`, async () => {
    const { code, stderr } = await runMail(args)
    assert.equal(code, 2)
    assert.match(stderr, reason)
    assert.match(stderr, /\nSee: portcullis mail --help\n$/)
  })
}
