import { once } from 'node:events'
import { chown, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { findUnprivilegedAccount } from '../account.ts'
import { findFreePort, host } from '../free-port.ts'
import { provideProgram } from '../programs/provide-program.ts'
import { type Address, type OpenServer, openServer } from '../server.ts'
import { type Service, startService } from '../service.ts'

export interface PgbouncerOptions {
  /** The PostgreSQL server behind it; without one, only the console works. */
  readonly upstream?: string
  /** `{ pool_mode: 'transaction', default_pool_size: '2' }`. Default: the defaults of PgBouncer. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface PgbouncerServer extends Address, Service, OpenServer {
  /**
   * The address of its console, which supports commands such as `SHOW POOLS` and `SET pool_mode =
   * …`.
   */
  readonly consoleUrl: string
}

/** A connection pooler for PostgreSQL. It accepts every user and password. */
export async function openPgbouncer(options: PgbouncerOptions = {}): Promise<PgbouncerServer> {
  const program = await provideProgram('pgbouncer')
  // PgBouncer refuses to run as root.
  const account = findUnprivilegedAccount()
  return openServer({
    name: 'pgbouncer',
    account,
    build: async (sandbox) => {
      const port = await findFreePort()
      const pidFile = join(sandbox.folder, 'pgbouncer.pid')
      const configFile = join(sandbox.folder, 'pgbouncer.ini')
      const settings = {
        listen_addr: host,
        listen_port: `${port}`,
        unix_socket_dir: '',
        auth_type: 'any',
        admin_users: 'pgbouncer',
        pidfile: pidFile,
        ...options.settings,
      }
      const upstream = options.upstream ?? 'postgres://nobody@127.0.0.1:1/nothing'
      await writeFile(configFile, toConfig(upstream, settings))
      if (account) await chown(configFile, account.uid, account.gid)
      const service = await startService({
        start: () => sandbox.start(program, [configFile], { name: 'pgbouncer' }),
        isReady: (pid) => isReady(pidFile, pid, port),
      })
      const at = `postgres://pgbouncer@${host}:${port}`
      return {
        host,
        port,
        url: `${at}${new URL(upstream).pathname}`,
        consoleUrl: `${at}/pgbouncer`,
        ...service,
      }
    },
  })
}

/** It writes its process id before it listens. */
async function isReady(pidFile: string, pid: number, port: number): Promise<boolean> {
  if ((await readFile(pidFile, 'utf8')).trim() !== `${pid}`) return false
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}

function toConfig(upstream: string, settings: Readonly<Record<string, string>>): string {
  const { hostname, port, username, password } = new URL(upstream)
  const server = { host: hostname, port, user: username, password: decodeURIComponent(password) }
  const fields = Object.entries(server).filter(([, value]) => value !== '')
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  return `[databases]
* = ${fields.map(([name, value]) => `${name}='${value}'`).join(' ')}

[pgbouncer]
${lines.join('\n')}
`
}
