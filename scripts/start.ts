import { parseArgs } from 'node:util'
import { openStartServer } from '../examples/start/start-server.ts'
import { toCommands } from '../examples/start/try-it.ts'

const HELP = `Usage: npm start [-- --port PORT]

Runs the GraphQL example server, and a page with its audit report.

Options:
  --port PORT  where to listen (default: the variable PORT, or else 4000)
  --help       show this text
`

/** A mistake in how the command was called, told in one sentence. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

function readOptions(argv: readonly string[]): { readonly port: string; readonly help: boolean } {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { port: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
    })
    return { port: values.port ?? process.env['PORT'] ?? '4000', help: values.help }
  } catch (error) {
    throw new UsageError('The only options are --port PORT and --help.', { cause: error })
  }
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`The port must be a number from 0 to 65535, not ${JSON.stringify(text)}.`)
}

async function start(port: number): Promise<void> {
  const { server, origin } = await openStartServer(port).catch((error: NodeJS.ErrnoException) => {
    const wayOut = `Choose another one: npm start -- --port ${port < 1024 || port === 65_535 ? 4000 : port + 1}, or set PORT.`
    if (error.code === 'EADDRINUSE') throw new UsageError(`Port ${port} is in use. ${wayOut}`)
    if (error.code === 'EACCES')
      throw new UsageError(`Port ${port} is reserved by the system. ${wayOut}`)
    throw error
  })
  const url = `${origin}/graphql`
  console.log(`
  GraphQL       ${url}
  Audit report  ${origin}/

Try, in another terminal:

${toCommands(url)
  .map(({ line }) => `  ${line}`)
  .join('\n')}

Ctrl-C stops it.
`)

  const stop = () => {
    server.close(() => console.log('Stopped.'))
    server.closeAllConnections()
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

try {
  const { port, help } = readOptions(process.argv.slice(2))
  if (help) process.stdout.write(HELP)
  else await start(parsePort(port))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 2
}
