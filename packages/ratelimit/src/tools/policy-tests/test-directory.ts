import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isPolicyTest, readText, toReadError } from '../../rules/sources/file/rule-directory.ts'

export interface PolicyTestDirectory {
  /** Sorted by name. */
  readonly files: readonly { readonly name: string; readonly text: string }[]
  readonly unreadable: readonly { readonly name: string; readonly reason: string }[]
}

/** Reads the `*.test.yaml` files directly inside a directory. Rejects when it cannot be read. */
export async function readPolicyTestDirectory(directory: string): Promise<PolicyTestDirectory> {
  const files: { name: string; text: string }[] = []
  const unreadable: { name: string; reason: string }[] = []
  const names = await readdir(directory)
  for (const name of names.filter(isPolicyTest).sort()) {
    const path = join(directory, name)
    try {
      files.push({ name: path, text: await readText(path) })
    } catch (error) {
      unreadable.push({ name: path, reason: toReadError(error) })
    }
  }
  return { files, unreadable }
}
