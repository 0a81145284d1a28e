import { globSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

// npx does not wait for processes that its command leaves running, such as a database that is
// shutting down.
const endWithinMs = 60_000

/** Waits until no process runs in a folder; resolves to the remaining ones after a time limit. */
export async function waitForEnd(folder: string): Promise<string[]> {
  const endMs = performance.now() + endWithinMs
  let left = listProcesses(folder)
  while (left.length > 0 && performance.now() < endMs) {
    await wait(50)
    left = listProcesses(folder)
  }
  return left
}

/** The processes that run in a folder or with a path in it; supported on Linux only. */
function listProcesses(folder: string): string[] {
  return globSync('/proc/[0-9]*').flatMap((process) => {
    try {
      const command = readFileSync(`${process}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      const isThere = command.includes(folder) || readlinkSync(`${process}/cwd`).startsWith(folder)
      return isThere ? [`${process} ${command}`] : []
    } catch {
      // It ended in the meantime.
      return []
    }
  })
}
