import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join, relative } from 'node:path'
import process from 'node:process'

/** The machine and the versions with which it was measured. */
export function describeMachine() {
  const cores = cpus()
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    system: `${process.platform} ${process.arch}`,
    node: process.version,
  }
}

/**
 * @returns a function that writes a result file, strings unchanged and other values as JSON, and returns
 * its path relative to the current folder.
 */
export function createResultWriter(folder: string) {
  return async (file: string, content: string | object): Promise<string> => {
    const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, file), text)
    return relative(process.cwd(), join(folder, file))
  }
}
