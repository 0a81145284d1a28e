import { readdir, readFile, readlink } from 'node:fs/promises'

/** Finds the process that listens on a local port, with /proc. */
export async function findListener(port: number): Promise<number | undefined> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'latin1').catch(() => '')),
  )
  const sockets = new Set(
    tables.flatMap((table) => findInodes(table, port)).map((inode) => `socket:[${inode}]`),
  )
  if (sockets.size === 0) return undefined
  for (const pid of await readdir('/proc')) {
    if (/^\d+$/.test(pid) && (await holdsOneOf(pid, sockets))) return Number(pid)
  }
  return undefined
}

const listening = '0A'

export function findInodes(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(suffix) && fields[3] === listening)
    .flatMap((fields) => fields[9] ?? [])
}

async function holdsOneOf(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  // Processes of other users cannot be read, and processes may exit during the search.
  const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
  for (const file of files) {
    if (sockets.has(await readlink(`/proc/${pid}/fd/${file}`).catch(() => ''))) return true
  }
  return false
}
