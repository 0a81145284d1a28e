import { addAbortListener } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable, type Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'

export interface OpenedLog {
  /** The name in messages. */
  readonly name: string
  /** Undefined if it is unknown, as for standard input. */
  readonly sizeBytes: number | undefined
  /** The number of bytes read so far, before decompression. */
  readonly readBytes: number
  /** Fails when the signal is aborted, because reading standard input may wait forever. */
  chunks(signal: AbortSignal): AsyncIterable<Buffer>
}

const chunkBytes = 256 * 1024

/** `bytesWritten` is the number of input bytes that were used. */
type Decompressor = Transform & { readonly bytesWritten: number }

/** Detected by the first bytes, so that standard input may be compressed too. */
interface Compression {
  readonly magic: Buffer
  readonly create: () => Decompressor
}

const compressions: readonly Compression[] = [
  { magic: Buffer.from([0x1f, 0x8b]), create: () => createGunzip({ chunkSize: chunkBytes }) },
  {
    magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
    create: () => createZstdDecompress({ chunkSize: chunkBytes }),
  },
]
const longestMagic = 4

/**
 * Opens a file, or standard input for `-`. Rejects if the file does not exist; it is read only when its
 * chunks are requested.
 */
export async function openLog(path: string, stdin: NodeJS.ReadableStream): Promise<OpenedLog> {
  if (path === '-') return new Log('standard input', undefined, () => new Readable().wrap(stdin))
  const found = await stat(path)
  if (found.isDirectory()) throw new Error('it is a folder')
  const sizeBytes = found.isFile() ? found.size : undefined
  return new Log(path, sizeBytes, () => createReadStream(path, { highWaterMark: chunkBytes }))
}

class Log implements OpenedLog {
  readonly name: string
  readonly sizeBytes: number | undefined
  readonly #open: () => Readable
  readBytes = 0

  constructor(name: string, sizeBytes: number | undefined, open: () => Readable) {
    this.name = name
    this.sizeBytes = sizeBytes
    this.#open = open
  }

  async *chunks(signal: AbortSignal): AsyncIterable<Buffer> {
    const source = this.#open()
    using _ = addAbortListener(signal, () => source.destroy())
    try {
      const chunks = this.#count(source)
      const start = await atLeast(longestMagic, undefined, chunks)
      const compression = compressions.find(({ magic }) => startsWith(start, magic))
      const all = prepend(start, chunks)
      if (compression === undefined) yield* all
      else yield* decompress(all, compression)
    } finally {
      source.destroy()
    }
  }

  async *#count(source: Readable): AsyncGenerator<Buffer, undefined> {
    for await (const chunk of source) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk))
      this.readBytes += bytes.length
      yield bytes
    }
  }
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

/**
 * Compressed logs can be concatenated. Node's decompressor for Zstandard stops if a part ends inside a
 * chunk, and silently drops the rest.
 */
async function* decompress(
  chunks: AsyncIterator<Buffer>,
  { magic, create }: Compression,
): AsyncGenerator<Buffer> {
  let rest: Buffer | undefined
  do {
    const decompressor = create()
    const feeding = feed(decompressor, rest, chunks).catch((error: unknown) => {
      decompressor.destroy(error instanceof Error ? error : new Error(String(error)))
      return undefined
    })
    yield* decompressor
    const left = await feeding
    rest = left === undefined ? undefined : await atLeast(magic.length, left, chunks)
    // Anything after a gzip file that is not another gzip file is padding.
  } while (rest !== undefined && startsWith(rest, magic))
}

/** Returns the bytes that the decompressor did not use; undefined at the end. */
async function feed(
  decompressor: Decompressor,
  first: Buffer | undefined,
  chunks: AsyncIterator<Buffer>,
): Promise<Buffer | undefined> {
  let chunk = first
  for (;;) {
    if (chunk === undefined) {
      const next = await chunks.next()
      if (next.done === true) break
      chunk = next.value
    }
    const before = decompressor.bytesWritten
    await write(decompressor, chunk)
    const used = decompressor.bytesWritten - before
    if (used < chunk.length) return chunk.subarray(used)
    chunk = undefined
  }
  decompressor.end()
  return undefined
}

/** A chunk may end anywhere, even within the bytes that identify the compression. */
async function atLeast(
  byteCount: number,
  first: Buffer | undefined,
  chunks: AsyncIterator<Buffer>,
): Promise<Buffer> {
  let bytes = first ?? Buffer.alloc(0)
  while (bytes.length < byteCount) {
    const next = await chunks.next()
    if (next.done === true) break
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value])
  }
  return bytes
}

function write(to: Transform, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}

function startsWith(bytes: Buffer, magic: Buffer): boolean {
  return bytes.subarray(0, magic.length).equals(magic)
}
