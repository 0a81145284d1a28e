// Starts the auth server, the rate limit service and the API. When one of them ends, all do.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const here = import.meta.dirname
const root = join(here, '../..')
const { PORT = '4000', AUTH_PORT = '8081', RATELIMIT_PORT = '8080' } = process.env
const api = `http://localhost:${PORT}`
const auth = `http://localhost:${AUTH_PORT}`
const ratelimit = `http://localhost:${RATELIMIT_PORT}`

process.loadEnvFile(join(here, 'auth.env'))

const stopping = new AbortController()
const { signal } = stopping
const stop = () => stopping.abort()
process.once('SIGINT', stop).once('SIGTERM', stop)

function run(args: readonly string[], env: Readonly<Record<string, string>>): void {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
    // A process group of its own: Ctrl-C is ours to pass on.
    detached: true,
  })
  signal.addEventListener('abort', () => child.kill('SIGINT'))
  child.once('exit', (code, by) => {
    if (signal.aborted) return
    console.error(`${args[0]} ended with ${code ?? by}; stopping the others.`)
    process.exitCode = 1
    stop()
  })
}

async function waitUntilItAnswers(url: string): Promise<void> {
  const isReady = () =>
    fetch(url).then(
      ({ status }) => status < 500,
      () => false,
    )
  while (!signal.aborted && !(await isReady())) await sleep(50)
}

run(['packages/auth/src/main.ts', '--config', join(here, 'auth.env')], {
  AUTH_API_PORT: AUTH_PORT,
  AUTH_API_EXTERNAL_URL: auth,
})
run(['packages/ratelimit/src/main.ts', 'serve', '--rules', join(here, 'rules')], {
  HOST: '127.0.0.1',
  PORT: RATELIMIT_PORT,
  // Only the JSON is needed here: any free port will do for the others.
  GRPC_HOST: '127.0.0.1',
  GRPC_PORT: '0',
  DEBUG_HOST: '127.0.0.1',
  DEBUG_PORT: '0',
  BACKEND_TYPE: 'memory',
  LIMIT_RESPONSE_HEADERS_ENABLED: 'true',
  DRAIN_DELAY: '0',
  LOG_LEVEL: 'error',
})
run(['examples/together/api.ts'], { PORT, AUTH_URL: auth, RATELIMIT_URL: ratelimit })

for (const url of [`${auth}/health`, `${ratelimit}/healthcheck`, api]) await waitUntilItAnswers(url)
if (!signal.aborted) {
  console.log(`
  GraphQL      ${api}/graphql
  Auth         ${auth}
  Rate limits  ${ratelimit}/json

Try, in another terminal:

  AUTH_URL=${auth} API_URL=${api} npx node examples/together/client.ts

Ctrl-C stops it.`)
}
