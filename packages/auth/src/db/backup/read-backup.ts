import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import {
  type BackupEnd,
  type BackupHeader,
  endOfRows,
  formatName,
  formatVersion,
  type StoredTable,
  type TableHeader,
} from './format.ts'

export interface Backup {
  readonly header: BackupHeader
  /** Yields the tables in order; the rows of one must be read before the next is requested. */
  tables(): AsyncGenerator<{ readonly table: StoredTable; readonly rows: AsyncGenerator<Buffer> }>
  /** The trailer of the file; available after all tables were read. */
  readonly end: () => BackupEnd
  close(): void
}

/** @throws {Error} if the file is not a backup, is damaged or is truncated. */
export async function readBackup(file: string): Promise<Backup> {
  const source = createReadStream(file)
  const lines = readLines(unzip(source), file)
  const next = async (): Promise<Buffer> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${file} is truncated; copy it again, or use another backup.`)
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
        const line: TableHeader | BackupEnd = JSON.parse((await next()).toString())
        if ('rows' in line) {
          end = line
          return
        }
        yield { table: line.table, rows: readRows() }
      }
    },
    end() {
      if (end === undefined) throw new Error(`${file} was not read completely.`)
      return end
    },
    close: () => source.destroy(),
  }
}

const notABackup =
  'it was not written by auth backup. Restore a file of pg_dump with pg_restore or psql'

async function* unzip(source: Readable): AsyncGenerator<Buffer> {
  const unzipped = createGunzip()
  source.on('error', (error) => unzipped.destroy(error))
  source.pipe(unzipped)
  let hasBegun = false
  try {
    for await (const chunk of unzipped) {
      hasBegun = true
      yield chunk
    }
  } catch (error) {
    const code = toCode(error)
    const advice = 'copy it again, or use another backup'
    if (code === 'Z_BUF_ERROR') throw new Error(`it is truncated; ${advice}`, { cause: error })
    if (code !== 'Z_DATA_ERROR') throw error
    throw new Error(hasBegun ? `it is damaged; ${advice}` : notABackup, { cause: error })
  }
}

function isEndOfRows(line: Buffer): boolean {
  return line.length === endOfRows.length + 1 && line.toString() === `${endOfRows}\n`
}

function toHeader(line: Buffer, file: string): BackupHeader {
  const header = parseHeader(line)
  if (header?.format !== formatName) {
    throw new Error(`${file} cannot be restored: ${notABackup}.`)
  }
  if (header.formatVersion !== formatVersion) {
    throw new Error(
      `${file} was written by a later release (${header.serverVersion}): restore it with that release.`,
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

/** Each line includes its newline. */
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
    throw new Error(`${file} cannot be read: ${toReason(error)}`, { cause: error })
  }
}
