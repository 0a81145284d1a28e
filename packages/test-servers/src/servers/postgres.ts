import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, cp, mkdtemp, readFile, stat, statfs, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findUnprivilegedAccount } from '../account.ts'
import { findFreePort, host } from '../free-port.ts'
import { provideFolder } from '../programs/cached-folder.ts'
import type { ProgramName } from '../programs/programs.ts'
import { provideProgram } from '../programs/provide-program.ts'
import { isOpenToAll, type Sandbox } from '../sandbox.ts'
import { type Address, type OpenServer, openServer } from '../server.ts'
import { type Service, startService } from '../service.ts'

const run = promisify(execFile)

export interface PostgresOptions {
  /** Server settings: `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Accepts every user and password; checking a password takes both sides some milliseconds. */
  readonly isOpen?: boolean
  /** Keeps its data in memory if there is enough of it, so that no CPU time is spent on the disk. */
  readonly isInMemory?: boolean
  /** Makes it a hot standby of that server, which is stopped briefly to be copied. */
  readonly standbyOf?: PostgresServer
}

export interface PostgresServer extends Address, Service, OpenServer {
  readonly user: string
  readonly password: string
  readonly database: string
}

/** The account that runs PostgreSQL, which refuses to run as root. */
interface Owner {
  readonly uid: number
  readonly gid: number
}

const user = 'postgres'
const password = 'portcullis'
const database = 'postgres'

/**
 * Nothing has to survive a crash, so nothing waits for the disk. Tables of tests are small, so compiling a
 * statement takes longer than running it.
 */
const quickSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  jit: 'off',
}

/** A PostgreSQL server with a new, empty database and a superuser with password login. */
export function openPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  return openWith('postgres', options)
}

/** The same, with the programs that are bundled with the authentication server. */
export function openPostgresEmbedded(options: PostgresOptions = {}): Promise<PostgresServer> {
  return openWith('postgres-embedded', options)
}

async function openWith(name: ProgramName, options: PostgresOptions): Promise<PostgresServer> {
  const found = await provideProgram(name)
  const account = findUnprivilegedAccount()
  return openServer({
    name: 'postgres',
    account,
    build: async (sandbox) => {
      const program = account ? await provideReadable(found, sandbox.folder) : found
      const who = account && { uid: account.uid, gid: account.gid }
      const place = options.isInMemory ? await openMemoryFolder(sandbox, who) : undefined
      const data = join(place ?? sandbox.folder, 'data')
      if (options.standbyOf) {
        await copyPrimary(options.standbyOf, data, sandbox.folder, who)
      } else {
        const { folder: cwd } = sandbox
        await createData({ found, program, data, cwd, who, isOpen: options.isOpen ?? false })
      }
      const port = await findFreePort()
      const settings = {
        listen_addresses: host,
        port: `${port}`,
        unix_socket_directories: '',
        ...quickSettings,
        ...options.settings,
      }
      const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      // SIGQUIT makes PostgreSQL end all connections without saving, like a crash. After SIGKILL
      // its children would keep the port and the memory for a moment.
      const how = { name: 'postgres', stopSignal: 'SIGQUIT' } as const
      const service = await startService({
        start: () => sandbox.start(program, ['-D', data, ...flags], how),
        isReady: (pid) => isReady(data, pid),
        // PostgreSQL's fast shutdown, which closes connections. SIGTERM would wait for them.
        shutDownSignal: 'SIGINT',
      })
      const url = `postgres://${user}:${password}@${host}:${port}/${database}`
      return { host, port, url, user, password, database, ...service }
    },
  })
}

/** Where Linux mounts a file system that is kept in memory. That of a container is often small. */
const memoryFolder = '/dev/shm'
/** Many times the size of the data of a test run. */
const enoughBytes = 8 * 2 ** 30

async function openMemoryFolder({ guard }: Sandbox, who?: Owner): Promise<string | undefined> {
  try {
    const { bavail, bsize } = await statfs(memoryFolder)
    if (bavail * bsize < enoughBytes) return undefined
    const folder = await mkdtemp(join(memoryFolder, 'portcullis-postgres-'))
    guard.addFolder(folder)
    if (who) await chown(folder, who.uid, who.gid)
    return folder
  } catch {
    // It is missing or not writable.
    return undefined
  }
}

interface DataOptions {
  /** The program as it was found, of which `program` may be a copy. */
  readonly found: string
  readonly program: string
  readonly data: string
  readonly cwd: string
  readonly who: Owner | undefined
  readonly isOpen: boolean
}

/**
 * Creates the data of a new server. The first server of each kind runs initdb; the others get a copy of its
 * data, which takes a third of the time.
 */
async function createData({ found, program, data, cwd, who, isOpen }: DataOptions): Promise<void> {
  const auth = isOpen ? 'trust' : 'scram-sha-256'
  const { size, mtimeMs } = await stat(found)
  const kind = createHash('sha256')
    .update([found, size, mtimeMs, auth, who?.uid ?? process.getuid?.()].join('\n'))
    .digest('hex')
  const template = await provideFolder(`postgres-data-${kind.slice(0, 16)}`, async (draft) => {
    const passwordFile = join(cwd, 'password')
    await writeFile(passwordFile, password)
    await run(
      join(dirname(program), 'initdb'),
      [
        ...['--pgdata', data, '--username', user, '--pwfile', passwordFile, '--auth', auth],
        ...['--encoding', 'UTF8', '--no-locale', '--no-sync'],
      ],
      { cwd, ...who },
    )
    await run('cp', ['-Rp', data, join(draft, 'data')])
  })
  // -p keeps the owner, without which PostgreSQL refuses the folder.
  if (!existsSync(data)) await run('cp', ['-Rp', join(template, 'data'), data])
}

/** Copies as the owner of the folder, so that PostgreSQL can use it. */
async function copyPrimary(
  primary: PostgresServer,
  data: string,
  cwd: string,
  who: Owner | undefined,
): Promise<void> {
  await primary.shutDown()
  await run('cp', ['-Rp', join(primary.folder, 'data'), data], { cwd, ...who })
  await primary.restart()
  const { host, port } = primary
  const source = `host=${host} port=${port} user=${user} password=${password} sslmode=disable`
  const settings = `primary_conninfo = '${source}'\nhot_standby = on\n`
  const script = `printf %s "$1" >> "$0/postgresql.auto.conf" && touch "$0/standby.signal"`
  await run('sh', ['-c', script, data, settings], { cwd, ...who })
}

/** The program, or a copy of it if other users cannot read the checkout. */
async function provideReadable(program: string, folder: string): Promise<string> {
  const bin = dirname(program)
  if (isOpenToAll(bin)) return program
  const copy = join(folder, 'programs')
  await cp(dirname(bin), copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, basename(bin), basename(program))
}

/** The server writes its process id to the first line of this file, and its state to the eighth. */
async function isReady(data: string, pid: number): Promise<boolean> {
  const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
  return lines[0]?.trim() === `${pid}` && /^(?:ready|standby)$/.test(lines[7]?.trim() ?? '')
}
