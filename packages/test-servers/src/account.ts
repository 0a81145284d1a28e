import { readFileSync } from 'node:fs'

/** A user account with which a process can be started. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * PostgreSQL refuses to run as root, so root needs another account; undefined for any other user.
 */
export function findUnprivilegedAccount(passwd = '/etc/passwd'): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync(passwd, 'utf8').split('\n')
  const accounts = lines.map((line) => {
    const [name = '', , uid, gid] = line.split(':')
    return { name, uid: Number(uid), gid: Number(gid) }
  })
  for (const wanted of ['postgres', 'nobody']) {
    const found = accounts.find((account) => account.name === wanted && account.uid > 0)
    if (found) return found
  }
  throw new Error('Tests that run as root need a user "postgres" or "nobody" to run PostgreSQL as.')
}
