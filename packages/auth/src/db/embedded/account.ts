import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'

/** A user of this machine under which a process can be started. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * The names on most systems and on macOS, and a user that every system has, in the order in which
 * they are tried.
 */
const usualNames = ['postgres', '_postgres', 'nobody']

/**
 * PostgreSQL refuses to run as root, so root needs another user for it: the owner of the data, else
 * the owner of the folder. Undefined if this process is not root; then PostgreSQL runs as the same
 * user.
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
    'PostgreSQL cannot run as root, and this system has no user "postgres" or "nobody" to run ' +
      `it as. Start this server as another user, or change the owner of ${folder} with chown.`,
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

/** PostgreSQL gets a minimal environment, without our secrets. */
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

/** Returns the end of the error output of a failed program, or why it could not be started. */
export function toFailureText(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  return stderr === '' ? toMessage(error) : stderr.split('\n').slice(-6).join('\n')
}
