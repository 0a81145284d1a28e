import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { createCommand } from '@portcullis/bench-kit/command'
import { Latencies } from '@portcullis/bench-kit/latencies'
import { parseCount, parseOptions } from '@portcullis/bench-kit/options'
import { describeMachine } from '@portcullis/bench-kit/results'
import { endOnSignals } from '@portcullis/bench-kit/server-process'
import { createVerifier, type Verifier } from '../../src/verify/index.ts'
import { writeResult } from '../results.ts'
import { createServiceToken } from '../servers/contestants.ts'
import { openDatabaseServer } from '../servers/database-server.ts'
import { jwtSecret, portcullisOnly, toEnvironment } from '../servers/environment.ts'
import { ourProgram, startServer } from '../servers/server-process.ts'

const help = `Usage: npm run bench -- revocations [OPTION…]

Measures the time from sending POST /logout to the first call that an API
refuses. Several APIs verify tokens with @portcullis/auth/verify; the slowest
of them counts. The auth server has several processes.

Options:
  --logouts N    measured sign-outs; default: 1000
  --processes N  processes of the auth server; default: 4
  --write        write the result to bench/results
  --help         show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const options = {
  logouts: { type: 'string', default: '1000' },
  processes: { type: 'string', default: '4' },
  write: { type: 'boolean', default: false },
} as const

function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, options)
  return {
    isHelpWanted: values.help,
    logouts: parseCount('logouts', values.logouts),
    processes: parseCount('processes', values.processes),
    isWritten: values.write,
  }
}

type Settings = ReturnType<typeof parseSettings>

/** Resolves to the exit code. */
export const run = createCommand({ name: 'revocations', help, parse: parseSettings, run: measure })

/** More than the processes, so that each of them has a client. */
const verifiersPerProcess = 2
const warmUps = 20

async function measure(settings: Settings): Promise<number> {
  const { logouts, processes, isWritten } = settings
  endOnSignals()
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await openDatabaseServer('embedded'))
  const databaseUrl = await database.createDatabase('revocations')
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-revocations-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const { target } = stack.use(
    await startServer({
      program: ourProgram,
      logFile: join(folder, 'server.log'),
      toEnvironment: (port) => ({
        ...toEnvironment({ databaseUrl, port, poolSize: 5 }),
        ...portcullisOnly,
        GOTRUE_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
        GOTRUE_RATE_LIMIT_ANONYMOUS_USERS: '1000000000',
        WORKERS: `${processes}`,
      }),
    }),
  )
  const authUrl = `http://${target.host}:${target.port}`
  const verifiers = Array.from({ length: processes * verifiersPerProcess }, () =>
    stack.use(
      createVerifier({ secret: jwtSecret, revocation: { key: createServiceToken(), authUrl } }),
    ),
  )
  const latencies = new Latencies()
  for (let done = -warmUps; done < logouts; done += 1) {
    const ms = await measureOne(authUrl, verifiers)
    if (done >= 0) latencies.add(ms)
  }
  const [p50Ms, p99Ms, longestMs] = [0.5, 0.99, 1].map((share) => latencies.quantile(share))
  console.log(
    `${logouts} sign-outs, ${processes} processes, ${verifiers.length} APIs: first refused call after ` +
      `${p50Ms} ms (median), ${p99Ms} ms (p99), ${longestMs} ms (longest)`,
  )
  if (!isWritten) return 0
  const machine = { ...describeMachine(), postgres: database.version }
  const content = { machine, logouts, processes, apis: verifiers.length, p50Ms, p99Ms, longestMs }
  console.log(`Written: ${await writeResult('auth-revocations.json', content)}`)
  return 0
}

/** Resolves to milliseconds from sending the sign-out until all verifiers refuse the token. */
async function measureOne(authUrl: string, verifiers: readonly Verifier[]): Promise<number> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${authUrl}/signup`, { method: 'POST', headers, body: '{}' })
  const { access_token: token } = (await response.json()) as { readonly access_token: string }
  await Promise.all(verifiers.map((verifier) => verifier.verify(token)))
  const startMs = performance.now()
  const signedOut = fetch(`${authUrl}/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  await Promise.all(verifiers.map((verifier) => untilRefused(verifier, token)))
  const ms = performance.now() - startMs
  await (await signedOut).arrayBuffer()
  return ms
}

async function untilRefused(verifier: Verifier, token: string): Promise<void> {
  const isAccepted = () =>
    verifier.verify(token).then(
      () => true,
      () => false,
    )
  while (await isAccepted()) await turn()
}
