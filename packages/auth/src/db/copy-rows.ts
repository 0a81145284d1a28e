import { pipeline } from 'node:stream/promises'
import type { ClientBase } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'

interface CopySettings {
  readonly from: ClientBase
  readonly select: string
  readonly to: ClientBase
  /** A statement that copies from standard input. */
  readonly into: string
}

/** Streams rows from one database into a table of another. */
export async function copyRows({ from, select, to, into }: CopySettings): Promise<void> {
  const rows = from.query(copyTo(`copy (${select}) to stdout`))
  await pipeline(rows, to.query(copyFrom(into)))
}
