import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { Agent, createServer, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { openStartServer } from '../../../examples/start/start-server.ts'
import { toCommands } from '../../../examples/start/try-it.ts'
import {
  type Command,
  findFreePort,
  type Running,
  root,
  runProgram,
  startProgram,
} from './support/program.ts'

const data = mkdtempSync(join(tmpdir(), 'start-'))
after(() => rmSync(data, { recursive: true, force: true }))

const start = (...args: string[]): Command => [
  process.execPath,
  join(root, 'scripts/start.ts'),
  '--ratelimit-port=0',
  '--auth-port=0',
  `--data=${data}`,
  ...args,
]

const run = async (t: TestContext) => {
  const port = await findFreePort()
  const program = await startProgram(t, start(), {
    env: { PORT: String(port) },
    isReady: (output) => output.includes('Ctrl-C'),
  })
  return { port, program }
}

/** Does what a printed line of `curl -d` would do. */
async function runCurl(program: Running, end: string): Promise<Response> {
  const lines = [...program.output().matchAll(/curl -d '(.*?)' '?(http[^\s']+)/g)]
  const [, body = '', url = ''] = lines.find((line) => line[2]?.endsWith(end)) ?? []
  return fetch(url, { method: 'POST', body })
}

test('npm start prints addresses and commands that work', async (t) => {
  const { port, program } = await run(t)
  const url = `http://localhost:${port}/graphql`
  assert.match(program.output(), new RegExp(`GraphQL +${url}\n`))
  assert.match(program.output(), new RegExp(`Audit report +http://localhost:${port}/\n`))
  for (const { line } of toCommands(url)) assert.ok(program.output().includes(`  ${line}\n`), line)

  const search = new URLSearchParams({ query: '{ hello }' })
  const answer = await fetch(`${url}?${search}`)
  assert.deepEqual(await answer.json(), { data: { hello: 'Hello, world!' } })
  const elsewhere = await fetch(`http://localhost:${port}/elsewhere`)
  assert.equal(elsewhere.status, 404)
  await elsewhere.text()

  const decision = await runCurl(program, '/json')
  assert.partialDeepStrictEqual(await decision.json(), { overallCode: 'OK' })
  const signUp = await runCurl(program, '/signup')
  assert.equal(signUp.status, 200)
  const { access_token } = await signUp.json()
  assert.equal(typeof access_token, 'string')
})

test('what npm start keeps is there again the next time, and the secrets are for their owner', async (t) => {
  assert.equal(statSync(join(data, 'auth.env')).mode & 0o777, 0o600)
  const { port, program } = await run(t)
  const signIn = await runCurl(program, 'grant_type=password')
  assert.equal(signIn.status, 200)
  await signIn.text()
  await stopsAtOnce(program, port, t)
})

/** Ctrl-C, whoever is still connected. */
async function stopsAtOnce(program: Running, port: number, t: TestContext): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const request = get({ port, host: '127.0.0.1', agent })
  request.on('error', () => {})
  const [response] = await once(request, 'response')
  response.resume()

  const ended = await program.stop('SIGINT')
  assert.equal(ended.code, 0)
  assert.match(ended.stdout, /Stopped\.\n$/)
  assert.equal(ended.stderr, '')
}

test('the start page shows the audits of the running server, and the commands', async (t) => {
  const { server, origin } = await openStartServer(0)
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const response = await fetch(origin)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
  const page = await response.text()
  assert.match(page, /All 61 audits pass/)
  for (const { line } of toCommands(`${origin}/graphql`)) {
    assert.ok(page.includes(`<pre>${line}</pre>`), line)
  }
  assert.ok(page.indexOf('<pre>npm test</pre>') < page.indexOf('<section id="MUST">'))
})

test('the start server listens to this machine only', async (t) => {
  const { server } = await openStartServer(0)
  t.after(() => server.close())
  const address = server.address()
  assert.equal(typeof address === 'object' ? address?.address : address, '127.0.0.1')
})

test('a port in use is told in one sentence with a way out', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const address = other.address()
  assert.ok(address !== null && typeof address === 'object')
  const { port } = address

  const ended = await runProgram(start('--port', String(port)))
  assert.equal(ended.code, 2)
  assert.equal(ended.stdout, '')
  assert.equal(
    ended.stderr,
    `Port ${port} is in use. Choose another one: npm start -- --port ${port + 1}, or set PORT.\n`,
  )
})

test('wrong options and ports are told in one sentence', async () => {
  const [word, large, unknown, help] = await Promise.all([
    runProgram(start('--port', 'http')),
    runProgram(start(), { PORT: '70000' }),
    runProgram(start('--prot', '1')),
    runProgram(start('--help'), { PORT: 'x' }),
  ])
  const portRule = 'The port must be a number from 0 to 65535, not'
  assert.deepEqual([word.code, word.stderr], [2, `${portRule} "http".\n`])
  assert.deepEqual([large.code, large.stderr], [2, `${portRule} "70000".\n`])
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [
      2,
      'The only options are --port PORT, --auth-port PORT, --ratelimit-port PORT, --data FOLDER and --help.\n',
    ],
  )
  assert.equal(help.code, 0)
  assert.match(help.stdout, /--port PORT/)
})
