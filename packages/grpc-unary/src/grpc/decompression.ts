import { gunzip, gunzipSync } from 'node:zlib'

/**
 * Up to this size, messages are decompressed on the event loop, which takes a fraction of a
 * millisecond.
 */
export const IMMEDIATE_BYTES = 65_536

/** How many messages may wait for the thread that decompresses long ones. */
const MOST_WAITING = 16

export type Decompressed = Buffer | 'too large' | 'too busy' | Error

/**
 * Decompresses on the event loop, so `mostBytes` must be small; returns 'too large' if the result
 * exceeds it.
 */
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
 * Decompresses on another thread, one message of this process at a time: a few bytes that expand to
 * megabytes must not delay other calls or occupy all threads. This function takes over the bytes.
 * @param isWanted called when it is the message's turn; if it returns false, `done` is not called.
 */
export function decompressLater(
  bytes: Uint8Array,
  mostBytes: number,
  isWanted: () => boolean,
  done: (result: Decompressed) => void,
): void {
  // Messages of closed connections must not take a place in the queue.
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
