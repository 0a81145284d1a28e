import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { runOnTerminal, runOrSkip } from '@portcullis/test-servers'
import { openApi } from '../src/api/api.ts'

const run = promisify(execFile)
const packages = join(import.meta.dirname, '../..')

const programs = {
  portcullis: 'portcullis/src/main.ts',
  auth: 'auth/src/main.ts',
  ratelimit: 'ratelimit/src/main.ts',
  'graphql-over-http': 'graphql-over-http/src/cli/main.ts',
} as const

type ProgramName = keyof typeof programs

const escapeCharacter = String.fromCharCode(27)
/** Matches colours and styles, but not the sequence that erases a progress line. */
const color = new RegExp(`${escapeCharacter}\\[[\\d;]*m`)

interface Call {
  readonly program: ProgramName
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Variables that influence colours, besides the terminal. Node disables colours if CI is set. */
const deciding = ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']

function toEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !deciding.includes(name))
  return { ...Object.fromEntries(inherited), TERM: 'xterm-256color', ...extra }
}

/** Returns everything that the program prints to a pipe, regardless of its exit code. */
async function runInPipe({ program, args, env }: Call): Promise<string> {
  const words = [join(packages, programs[program]), ...args]
  const result = run(process.execPath, words, { env: toEnvironment(env) })
  const { stdout, stderr } = await result.catch((error) => error)
  return `${stdout}${stderr}`
}

/** Returns everything that the program prints on a terminal. */
function printOnTerminal({ program, args, env }: Call): Promise<string> {
  const words = [join(packages, programs[program]), ...args]
  return runOnTerminal(process.execPath, words, toEnvironment(env))
}

for (const program of Object.keys(programs) as ProgramName[]) {
  test(`${program} prints its version and its commands, without colours in a pipe`, async () => {
    const version = await runInPipe({ program, args: ['--version'] })
    assert.match(version, /^\d+\.\d+\.\d+\S*\n$/)
    const help = await runInPipe({ program, args: ['--help'] })
    assert.match(help, new RegExp(`^Usage: ${program} `))
    assert.ok(!help.includes(escapeCharacter))
  })
}

/** Makes the program see an older version of Node, before any of its modules is loaded. */
const asNode20 = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })",
)}`

for (const program of Object.keys(programs) as ProgramName[]) {
  test(`${program} prints the required Node version instead of a stack trace`, async () => {
    const words = ['--import', asNode20, join(packages, programs[program]), '--version']
    const { code, stdout, stderr } = await run(process.execPath, words).catch((error) => error)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^This program requires Node 22\.18 or later; this is Node 20\.19\.0\. .*\n$/,
    )
  })
}

test('every published package requires the same Node version, in its manifest and in its README', () => {
  for (const name of ['auth', 'graphql-over-http', 'grpc-unary', 'portcullis', 'ratelimit']) {
    const read = (file: string) => readFileSync(join(packages, name, file), 'utf8')
    assert.deepEqual(JSON.parse(read('package.json')).engines, { node: '>=22.18' }, name)
    assert.match(read('README.md'), /Node\s22\.18 and later/, name)
  }
})

function openFaultyRules(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-rules-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'api.yaml'), 'domain: api\ndescriptors:\n  - kye: user\n')
  return folder
}

async function openAuditedUrl(t: TestContext): Promise<string> {
  const server = createServer(openApi({})).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
}

const rules = join(packages, 'portcullis/rules')

/** Commands that print colours on a terminal. */
const colorful: Readonly<Record<string, (t: TestContext) => Promise<Call>>> = {
  'ratelimit check': async (t) => ({ program: 'ratelimit', args: ['check', openFaultyRules(t)] }),
  'ratelimit explain': async () => ({
    program: 'ratelimit',
    args: ['explain', rules, '-domain', 'graphql', '-descriptors', 'user=7'],
  }),
  'graphql-over-http audit': async (t) => ({
    program: 'graphql-over-http',
    args: ['audit', await openAuditedUrl(t)],
  }),
}

for (const [name, prepare] of Object.entries(colorful)) {
  test(`${name} prints colours on a terminal only`, async (t) => {
    const call = await prepare(t)
    const printed = await runOrSkip(t, () =>
      Promise.all([
        printOnTerminal(call),
        runInPipe(call),
        printOnTerminal({ ...call, env: { NO_COLOR: '1' } }),
      ]),
    )
    if (!printed) return
    const [onTerminal, inPipe, without] = printed
    assert.match(onTerminal, color)
    assert.ok(inPipe.length > 0 && !inPipe.includes(escapeCharacter), inPipe)
    assert.ok(without.length > 0)
    assert.doesNotMatch(without, color)
  })
}
