import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { toReason } from '@portcullis/service-kit/text/reason'
import { AdminFailure } from '../admin/client.ts'

/** Reads a file that an option names, or standard input for `-`. @throws {AdminFailure} */
export async function readInput(option: string, path: string): Promise<string> {
  try {
    const content = path === '-' ? await text(process.stdin) : await readFile(path, 'utf8')
    // Files often end in a line break, which is not part of a secret.
    const value = content.replace(/\r?\n$/, '')
    if (value !== '') return value
  } catch (error) {
    throw new AdminFailure(`${option} ${path} cannot be read: ${toReason(error)}.`)
  }
  throw new AdminFailure(`${option} ${path} is empty.`)
}
