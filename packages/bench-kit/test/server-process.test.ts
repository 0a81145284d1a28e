import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { findFreePorts } from '../src/free-ports.ts'
import { type Program, startServerProcess, toNodeProgram } from '../src/server-process.ts'

async function prepare(t: TestContext, program: Program) {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-bench-kit-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const [port = 0] = await findFreePorts(1)
  return {
    program,
    logFile: join(folder, 'server.log'),
    env: { PORT: `${port}` },
    readReadiness: async () => {
      const response = await fetch(`http://127.0.0.1:${port}`)
      return response.ok ? await response.text() : undefined
    },
  }
}

const greeter = toNodeProgram(
  '-e',
  `require('node:http')
    .createServer((_, response) => response.end(Object.keys(process.env).filter((name) => !name.startsWith("__")).sort().join(' ')))
    .listen(process.env.PORT, '127.0.0.1')`,
)

test('a server is awaited until it is ready, gets only the given environment, and ends', async (t) => {
  const launch = await prepare(t, greeter)
  const server = await startServerProcess(launch)
  assert.equal(server.readiness, 'HOME NODE_ENV PATH PORT')
  process.kill(server.pid, 0)
  await server[Symbol.asyncDispose]()
  assert.equal(server.child.signalCode, 'SIGKILL')
  await assert.rejects(launch.readReadiness())
})

test('a server that does not start is reported with the end of its log', async (t) => {
  const ends = await prepare(t, toNodeProgram('-e', 'console.log("no room"); process.exit(3)'))
  await assert.rejects(
    startServerProcess(ends),
    /-e .* exited before it was ready\. [\s\S]*no room$/,
  )
  const deaf = await prepare(t, toNodeProgram('-e', 'setTimeout(() => {}, 60_000)'))
  await assert.rejects(
    startServerProcess({ ...deaf, startTimeoutMs: 200 }),
    /was not ready in time \(fetch failed\)/,
  )
})

test('a program that does not exist is reported by its name', async (t) => {
  const nothing = await prepare(t, { file: '/no/such/program', args: [] })
  await assert.rejects(
    startServerProcess(nothing),
    /^Error: \/no\/such\/program cannot be started: .*ENOENT/,
  )
})
