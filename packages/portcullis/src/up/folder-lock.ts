import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ports } from './ports.ts'
import { readPrivateFile, replaceFile } from './private-files.ts'
import { readStartOf } from './process-start.ts'

export const lockFile = 'running.json'

/** Who is at work on a data folder, and where. */
export interface Occupation {
  readonly pid: number
  readonly startedAt: string
  /** Only of the parts that run. Known once they do. */
  readonly ports?: Partial<Ports>
}

export interface FolderLock extends Disposable {
  /** Tells others where we are. */
  tell(ports: Partial<Ports>): void
}

/** Undefined when nobody is there, or not any more. */
export function findOccupation(folder: string): Occupation | undefined {
  try {
    const found: Occupation = JSON.parse(readPrivateFile(join(folder, lockFile)) ?? '')
    return readStartOf(found.pid) === found.startedAt ? found : undefined
  } catch {
    return undefined
  }
}

/** Undefined when somebody else has it. What a killed process has left is no obstacle. */
export function lockFolder(folder: string): FolderLock | undefined {
  if (findOccupation(folder) !== undefined) return undefined
  const path = join(folder, lockFile)
  const own: Occupation = { pid: process.pid, startedAt: readStartOf(process.pid) ?? 'unknown' }
  const toText = (occupation: Occupation) => `${JSON.stringify(occupation, undefined, 2)}\n`
  const release = () => rmSync(path, { force: true })
  release()
  try {
    writeFileSync(path, toText(own), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined
    throw error
  }
  process.once('exit', release)
  return {
    tell(ports) {
      replaceFile(`${path}.new`, toText({ ...own, ports }))
      renameSync(`${path}.new`, path)
    },
    [Symbol.dispose]() {
      process.off('exit', release)
      release()
    },
  }
}
