import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import {
  type BackupEnd,
  type BackupHeader,
  endOfRows,
  formatName,
  formatVersion,
  type TableHeader,
} from './format.ts'
import type { StoredTable } from './tables.ts'

export interface Backup {
  readonly header: BackupHeader
  /** Each table in order; its rows are to be read before the next one is asked for. */
  tables(): AsyncGenerator<{ readonly table: StoredTable; readonly rows: AsyncGenerator<Buffer> }>
  /** What the end of the file says, once all tables were read. */
  readonly end: () => BackupEnd
  close(): void
}

/** @throws {Error} where the file is none of ours, damaged or cut off. */
export async function readBackup(file: string): Promise<Backup> {
  const source = createReadStream(file)
  const unzipped = createGunzip()
  source.on('error', (error) => unzipped.destroy(error))
  source.pipe(unzipped)
  const lines = readLines(unzipped, file)
  const next = async (): Promise<Buffer> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${file} is cut off: it does not have the end of a backup.`)
    return value
  }
  const header = toHeader(await next(), file)
  let end: BackupEnd | undefined
  async function* readRows(): AsyncGenerator<Buffer> {
    for (let line = await next(); !isEndOfRows(line); line = await next()) yield line
  }
  return {
    header,
    async *tables() {
      for (;;) {
        const said: TableHeader | BackupEnd = JSON.parse((await next()).toString())
        if ('rows' in said) {
          end = said
          return
        }
        yield { table: said.table, rows: readRows() }
      }
    },
    end() {
      if (end === undefined) throw new Error(`${file} was not read to its end.`)
      return end
    },
    close: () => source.destroy(),
  }
}

function isEndOfRows(line: Buffer): boolean {
  return line.length === endOfRows.length + 1 && line.toString() === `${endOfRows}\n`
}

function toHeader(line: Buffer, file: string): BackupHeader {
  const header = parseHeader(line)
  if (header?.format !== formatName) {
    throw new Error(`${file} is not a backup that auth backup wrote.`)
  }
  if (header.formatVersion !== formatVersion) {
    throw new Error(
      `${file} was written by a later release (${header.serverVersion}): restore it with that one.`,
    )
  }
  return header
}

function parseHeader(line: Buffer): BackupHeader | undefined {
  try {
    return JSON.parse(line.toString())
  } catch {
    return undefined
  }
}

const newline = 0x0a

/** With the newline at the end of each. */
async function* readLines(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  try {
    for await (const chunk of chunks) {
      let from = 0
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        const piece = chunk.subarray(from, at + 1)
        yield rest.length === 0 ? piece : Buffer.concat([...rest, piece])
        rest = []
        from = at + 1
      }
      if (from < chunk.length) rest.push(chunk.subarray(from))
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${file} cannot be read: ${reason}`, { cause: error })
  }
}
