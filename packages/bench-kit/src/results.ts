import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join, relative } from 'node:path'
import process from 'node:process'

/** Where and with what it was measured. */
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
 * @returns what writes a file of results, text as it is and all else as JSON, and tells its path from
 * where the user stands.
 */
export function createResultWriter(folder: string) {
  return async (file: string, content: string | object): Promise<string> => {
    const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, file), text)
    return relative(process.cwd(), join(folder, file))
  }
}
