import { readdir, readFile } from 'node:fs/promises'

/** A process and all that it started, and so on. */
export async function listProcesses(pid: number): Promise<readonly number[]> {
  const parents = await readParents()
  const found = [pid]
  // It grows while it is walked.
  for (const parent of found) {
    for (const [child, of] of parents) if (of === parent) found.push(child)
  }
  return found
}

async function readParents(): Promise<ReadonlyMap<number, number>> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const entries = await Promise.all(
    names.map(async (name): Promise<[number, number]> => {
      // One that has just ended has no parent any more.
      const line = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '')
      const [, parent] = line.slice(line.lastIndexOf(')') + 2).split(' ')
      return [Number(name), Number(parent ?? 0)]
    }),
  )
  return new Map(entries)
}
