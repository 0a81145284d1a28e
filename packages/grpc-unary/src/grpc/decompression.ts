import { gunzip, gunzipSync } from 'node:zlib'

/** What is decompressed at once, on the event loop: a fraction of a millisecond. */
export const IMMEDIATE_BYTES = 65_536

/** Messages that may wait for the thread which decompresses long ones. */
const MOST_WAITING = 16

export type Decompressed = Buffer | 'too large' | 'too busy' | Error

/** At once, when the result is short; 'too large' when it is longer than `mostBytes`. */
export function decompressNow(bytes: Uint8Array, mostBytes: number): Decompressed {
  try {
    return gunzipSync(bytes, { maxOutputLength: mostBytes })
  } catch (error) {
    return toFailure(error)
  }
}

interface Task {
  readonly isWanted: () => boolean
  readonly run: () => void
}

let waiting: Task[] = []
let isRunning = false

/**
 * On another thread, one message of this process at a time: a few bytes that stand for megabytes
 * must not hold up other calls, nor take all threads. The bytes belong to this function from here on.
 * @param isWanted asked when its turn comes; `done` is not called when it is not.
 */
export function decompressLater(
  bytes: Uint8Array,
  mostBytes: number,
  isWanted: () => boolean,
  done: (result: Decompressed) => void,
): void {
  // Messages of connections that are gone take no place from others.
  if (waiting.length >= MOST_WAITING) waiting = waiting.filter((task) => task.isWanted())
  if (waiting.length >= MOST_WAITING) {
    done('too busy')
    return
  }
  const run = (): void => {
    gunzip(bytes, { maxOutputLength: mostBytes, chunkSize: IMMEDIATE_BYTES }, (error, result) => {
      runNext()
      done(error === null ? result : toFailure(error))
    })
  }
  waiting.push({ isWanted, run })
  if (!isRunning) runNext()
}

function runNext(): void {
  let next = waiting.shift()
  while (next !== undefined && !next.isWanted()) next = waiting.shift()
  isRunning = next !== undefined
  next?.run()
}

function toFailure(error: unknown): Decompressed {
  if (!(error instanceof Error)) return new Error(String(error))
  return 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : error
}
