import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '../..')
const host = '127.0.0.1'

export interface AuthSettings {
  /** 0 takes a free one. */
  readonly port: number
  /** Keeps the users and the secrets from one start to the next. */
  readonly folder: string
}

export interface RunningAuth {
  readonly url: string
  stop(): Promise<void>
}

/** The server could not start; its own words say why. */
export class AuthStartError extends Error {
  override readonly name = 'AuthStartError'
}

/** Runs the auth server beside us, on a PostgreSQL of its own. */
export async function startAuth(settings: AuthSettings): Promise<RunningAuth> {
  const port = settings.port || (await findFreePort())
  const url = `http://localhost:${port}`
  const child = spawn(
    process.execPath,
    [join(root, 'packages/auth/src/main.ts'), '--config', provideSecrets(settings.folder)],
    {
      env: {
        ...process.env,
        AUTH_API_HOST: host,
        AUTH_API_PORT: `${port}`,
        AUTH_API_EXTERNAL_URL: url,
        AUTH_SITE_URL: 'http://localhost:3000',
        AUTH_DB_DRIVER: 'postgres',
        AUTH_DB_DATABASE_URL: `embedded://${join(settings.folder, 'database')}`,
        AUTH_JWT_AUD: 'authenticated',
        AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
        // There is no mail server here, and nobody could sign in who waits for a message.
        AUTH_MAILER_AUTOCONFIRM: 'true',
        AUTH_LOG_LEVEL: 'info',
        AUTH_LOG_FILE: '',
      },
      // A process group of its own: Ctrl-C is ours to pass on.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const exited = once(child, 'exit')
  // In an orderly way, also when we go in another one: it ends by itself and then so does its PostgreSQL.
  process.once('exit', () => child.kill('SIGTERM'))

  const ready = Promise.withResolvers<void>()
  const complaints: string[] = []
  let isReady = false
  let isStopping = false
  const lines = createInterface({ input: child.stderr })
  lines.on('line', (line) => {
    if (/"Listening on /.test(line)) {
      isReady = true
      ready.resolve()
    } else if (!/"level":"(?:info|debug|trace)"/.test(line)) {
      if (!isReady) complaints.push(line)
      else if (!isStopping) process.stderr.write(`${line}\n`)
    }
  })
  lines.once('close', () => ready.reject(new AuthStartError(toComplaint(complaints))))
  await ready.promise
  return {
    url,
    async stop() {
      isStopping = true
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
      await exited
    },
  }
}

/** Made at the first start, for the eyes of its owner only. @returns the path of the file. */
function provideSecrets(folder: string): string {
  const path = join(folder, 'auth.env')
  mkdirSync(folder, { recursive: true })
  const text = `# Made by the first npm start. Whoever knows the secret can sign in as anybody.
AUTH_JWT_SECRET=${randomBytes(48).toString('base64url')}
`
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  return path
}

/** The last words of the log, without what is around them; all of it where they are no log. */
function toComplaint(lines: readonly string[]): string {
  const fatal = lines.findLast((line) => line.includes('"level":"fatal"'))
  return fatal === undefined ? lines.join('\n') : JSON.parse(fatal)['@message']
}

/** The server is told its own address, so it has to be known before. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port')
  return address.port
}
