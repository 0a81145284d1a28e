import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

interface Inside {
  readonly pid: number
  readonly command: string
}

/** The processes whose root directory is this folder. */
export function listInside(folder: string): readonly Inside[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      if (readlinkSync(`/proc/${pid}/root`) !== folder) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return [{ pid, command }]
    } catch {
      // The process has ended in the meantime.
      return []
    }
  })
}

export function killInside(folder: string): void {
  for (const { pid } of listInside(folder)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended in the meantime.
    }
  }
}
