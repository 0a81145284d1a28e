import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { AuthStartError, type RunningAuth, startAuth } from '../examples/start/start-auth.ts'
import {
  defaultPorts,
  RatelimitStartError,
  type RunningRatelimit,
  startRatelimit,
} from '../examples/start/start-ratelimit.ts'
import { openStartServer } from '../examples/start/start-server.ts'
import { toAuthCommands, toCommands, toRatelimitCommands } from '../examples/start/try-it.ts'

const HELP = `Usage: npm start [-- --port PORT] [--auth-port PORT] [--ratelimit-port PORT] [--data FOLDER]

Runs the GraphQL example server with a page about its audits, the rate limit service with the example
rules, and the auth server on a PostgreSQL of its own. Nothing else has to run; everything listens on
this machine only.

Options:
  --port PORT            of GraphQL (default: the variable PORT, or else 4000)
  --auth-port PORT       of the auth server (default 8081)
  --ratelimit-port PORT  of the rate limit service's JSON (default 8080); gRPC takes the next but
                         one (8082), its debug pages 6070. 0 takes free ports for all three
  --data FOLDER          keeps users and secrets (default .portcullis/start in this checkout)
  --help                 show this text
`

/** A mistake in how the command was called, told in one sentence. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

interface Options {
  readonly port: string
  readonly authPort: string
  readonly ratelimitPort: string
  readonly data: string
  readonly help: boolean
}

function readOptions(argv: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        port: { type: 'string' },
        'auth-port': { type: 'string', default: '8081' },
        'ratelimit-port': { type: 'string', default: `${defaultPorts.http}` },
        data: { type: 'string', default: join(import.meta.dirname, '../.portcullis/start') },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    return {
      port: values.port ?? process.env['PORT'] ?? '4000',
      authPort: values['auth-port'],
      ratelimitPort: values['ratelimit-port'],
      data: resolve(values.data),
      help: values.help,
    }
  } catch (error) {
    const known = '--port PORT, --auth-port PORT, --ratelimit-port PORT, --data FOLDER and --help'
    throw new UsageError(`The only options are ${known}.`, { cause: error })
  }
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`The port must be a number from 0 to 65535, not ${JSON.stringify(text)}.`)
}

async function openGraphql(port: number) {
  return openStartServer(port).catch((error: NodeJS.ErrnoException) => {
    const wayOut = `Choose another one: npm start -- --port ${port < 1024 || port === 65_535 ? 4000 : port + 1}, or set PORT.`
    if (error.code === 'EADDRINUSE') throw new UsageError(`Port ${port} is in use. ${wayOut}`)
    if (error.code === 'EACCES')
      throw new UsageError(`Port ${port} is reserved by the system. ${wayOut}`)
    throw error
  })
}

async function openRatelimit(http: number): Promise<RunningRatelimit> {
  const isFree = http === 0
  const { debug } = defaultPorts
  return startRatelimit({ http, grpc: isFree ? 0 : http + 2, debug: isFree ? 0 : debug }).catch(
    (error: unknown) => {
      if (!(error instanceof RatelimitStartError)) throw error
      const wayOut = 'Choose other ports: npm start -- --ratelimit-port 9080'
      throw new UsageError(`The rate limit service did not start.\n${error.message}\n${wayOut}`)
    },
  )
}

async function openAuth(port: number, folder: string): Promise<RunningAuth> {
  return startAuth({ port, folder }).catch((error: unknown) => {
    if (!(error instanceof AuthStartError)) throw error
    const wayOut = 'Choose another port or folder: npm start -- --auth-port 9081 --data FOLDER'
    throw new UsageError(`The auth server did not start.\n${error.message}\n${wayOut}`)
  })
}

interface Places {
  readonly port: number
  readonly authPort: number
  readonly ratelimitPort: number
  readonly data: string
}

async function start({ port, authPort, ratelimitPort, data }: Places): Promise<void> {
  // Whoever stops what still starts leaves nothing behind: processes of ours end with us.
  const leave = () => process.exit(130)
  process.once('SIGINT', leave)
  process.once('SIGTERM', leave)
  const { server, origin } = await openGraphql(port)
  const closeGraphql = () => {
    server.close()
    server.closeAllConnections()
  }
  const opening = [openRatelimit(ratelimitPort), openAuth(authPort, data)] as const
  const stopAll = async () => {
    closeGraphql()
    for (const each of await Promise.allSettled(opening)) {
      if (each.status === 'fulfilled') await each.value.stop()
    }
  }
  const [{ ports }, auth] = await Promise.all(opening).catch(async (error: unknown) => {
    await stopAll()
    throw error
  })
  const url = `${origin}/graphql`
  const commands = [...toCommands(url), ...toAuthCommands(auth.url), ...toRatelimitCommands(ports)]
  const lines = commands.map(({ line }) => `  ${line}`)
  console.log(`
  GraphQL       ${url}
  Audit report  ${origin}/
  Auth          ${auth.url} (no mail server: addresses count as confirmed, nothing is sent)
  Rate limits   http://localhost:${ports.http}/json, gRPC localhost:${ports.grpc}
  Statistics    http://localhost:${ports.debug}/stats

Try, in another terminal:

${lines.join('\n')}

Ctrl-C stops it.
`)

  const signals = ['SIGINT', 'SIGTERM'] as const
  const stop = () => {
    // A second one must not end us before those who end with us are told.
    for (const signal of signals) process.off(signal, stop).on(signal, leave)
    void stopAll().then(() => console.log('Stopped.'))
  }
  for (const signal of signals) process.off(signal, leave).on(signal, stop)
}

try {
  const { port, authPort, ratelimitPort, data, help } = readOptions(process.argv.slice(2))
  if (help) process.stdout.write(HELP)
  else {
    await start({
      port: parsePort(port),
      authPort: parsePort(authPort),
      ratelimitPort: parsePort(ratelimitPort),
      data,
    })
  }
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 2
}
