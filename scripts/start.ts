import { parseArgs } from 'node:util'
import {
  defaultPorts,
  RatelimitStartError,
  type RunningRatelimit,
  startRatelimit,
} from '../examples/start/start-ratelimit.ts'
import { openStartServer } from '../examples/start/start-server.ts'
import { toCommands, toRatelimitCommands } from '../examples/start/try-it.ts'

const HELP = `Usage: npm start [-- --port PORT] [--ratelimit-port PORT]

Runs the GraphQL example server with a page about its audits, and the rate limit service with the
example rules. Nothing else has to run; everything listens on this machine only.

Options:
  --port PORT            of GraphQL (default: the variable PORT, or else 4000)
  --ratelimit-port PORT  of the rate limit service's JSON (default 8080); gRPC takes the next but
                         one (8082), its debug pages 6070. 0 takes free ports for all three
  --help                 show this text
`

/** A mistake in how the command was called, told in one sentence. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

interface Options {
  readonly port: string
  readonly ratelimitPort: string
  readonly help: boolean
}

function readOptions(argv: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        port: { type: 'string' },
        'ratelimit-port': { type: 'string', default: `${defaultPorts.http}` },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    return {
      port: values.port ?? process.env['PORT'] ?? '4000',
      ratelimitPort: values['ratelimit-port'],
      help: values.help,
    }
  } catch (error) {
    const known = '--port PORT, --ratelimit-port PORT and --help'
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

async function start(port: number, ratelimitPort: number): Promise<void> {
  const { server, origin } = await openGraphql(port)
  const closeGraphql = () => {
    server.close()
    server.closeAllConnections()
  }
  const ratelimit = await openRatelimit(ratelimitPort).catch((error: unknown) => {
    closeGraphql()
    throw error
  })
  const { ports } = ratelimit
  const url = `${origin}/graphql`
  const lines = [...toCommands(url), ...toRatelimitCommands(ports)].map(({ line }) => `  ${line}`)
  console.log(`
  GraphQL       ${url}
  Audit report  ${origin}/
  Rate limits   http://localhost:${ports.http}/json, gRPC localhost:${ports.grpc}
  Statistics    http://localhost:${ports.debug}/stats

Try, in another terminal:

${lines.join('\n')}

Ctrl-C stops it.
`)

  const stop = () => {
    closeGraphql()
    void ratelimit.stop().then(() => console.log('Stopped.'))
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

try {
  const { port, ratelimitPort, help } = readOptions(process.argv.slice(2))
  if (help) process.stdout.write(HELP)
  else await start(parsePort(port), parsePort(ratelimitPort))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 2
}
