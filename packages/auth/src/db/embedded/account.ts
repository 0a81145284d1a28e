import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'

/** A user of this machine, as a process can be started with. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** The usual name, that of macOS, and the one that every system has. */
const usualNames = ['postgres', '_postgres', 'nobody']

/**
 * PostgreSQL refuses to run as root, so root needs somebody else for it: whoever owns the data
 * already, else whoever owns the folder. Undefined when we are not root: then it runs as we do.
 */
export async function chooseAccount(
  folder: string,
  passwd = '/etc/passwd',
): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const accounts = readAccounts(passwd)
  for (const path of [join(folder, 'data'), folder]) {
    const owner = await stat(path).catch(() => undefined)
    if (!owner || owner.uid === 0) continue
    const { uid, gid } = owner
    return accounts.find((account) => account.uid === uid) ?? { name: `${uid}`, uid, gid }
  }
  for (const name of usualNames) {
    const found = accounts.find((account) => account.name === name && account.uid > 0)
    if (found) return found
  }
  throw new EmbeddedPostgresError(
    'no_account',
    'PostgreSQL does not run as root, and this system has no user "postgres" or "nobody" to run ' +
      `it as. Start this server as another user, or give ${folder} to one with chown.`,
  )
}

function readAccounts(passwd: string): readonly Account[] {
  return readFileSync(passwd, 'utf8')
    .split('\n')
    .map((line) => {
      const [name = '', , uid, gid] = line.split(':')
      return { name, uid: Number(uid), gid: Number(gid) }
    })
}

/** Little of our environment is any business of PostgreSQL, and our secrets are none. */
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

export function toSpawnOptions(account: Account | undefined, cwd: string) {
  return { cwd, env: environment, ...(account && { uid: account.uid, gid: account.gid }) }
}

const execute = promisify(execFile)

export async function runAs(
  account: Account | undefined,
  cwd: string,
  program: string,
  args: readonly string[],
): Promise<string> {
  const { stdout } = await execute(program, args, toSpawnOptions(account, cwd))
  return stdout
}

/** The end of what a program that failed had to say. */
export function toComplaint(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const said = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : ''
  return said === '' ? error.message : said.split('\n').slice(-6).join('\n')
}
