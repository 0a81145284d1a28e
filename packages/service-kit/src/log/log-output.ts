import { write, writeSync } from 'node:fs'
import process from 'node:process'
import { toCountText } from '../text/format.ts'
import { toCode, toReason } from '../text/reason.ts'
import { type LineFormat, toLogLine } from './log.ts'
import { openUnblocked } from './unblocked-descriptor.ts'

export interface LogOutput extends Disposable {
  write(line: string): void
}

export interface LogOutputSettings {
  /** 2 is standard error. */
  readonly fd: number
  /** The format of the line that reports dropped lines. */
  readonly format?: LineFormat
  /** How much is buffered for a reader that does not read, or while the disk is full. */
  readonly limitBytes?: number
}

/** How soon a failed write is retried, since the reader may continue at any moment. */
const fullPipeMs = 20
const failureMs = 500

/** How long an exiting process waits for its last lines to be read. */
const exitFlushMs = 500

/**
 * Writes lines to a file descriptor without ever blocking. `process.stderr` blocks the whole
 * process while a full pipe is not read; here lines are buffered, and beyond a limit dropped and
 * counted. The same applies while a disk is full.
 */
export function openLogOutput(settings: LogOutputSettings): LogOutput {
  const descriptor = openUnblocked(settings.fd)
  const fd = descriptor?.fd ?? settings.fd
  const tooSlow = descriptor ? 'the log was not read' : 'the disk was too slow'
  const lines = new WaitingLines(settings, tooSlow)
  /** The rest of the lines that are being written. */
  let unsent: Buffer | undefined
  /** A thread is writing, and its progress is unknown. */
  let isInThread = false
  let isScheduled = false
  let isClosed = false
  /** Since when writing has failed. */
  let stuckSinceMs: number | undefined

  const onWritten = (bytes: Buffer, written: number): void => {
    stuckSinceMs = undefined
    unsent = written < bytes.length ? bytes.subarray(written) : undefined
  }
  const onFailure = (error: unknown): void => {
    stuckSinceMs ??= performance.now()
    const isFull = toCode(error) === 'EAGAIN'
    lines.reason = isFull ? tooSlow : `the log cannot be written (${toReason(error)})`
    isScheduled = true
    setTimeout(send, isFull ? fullPipeMs : failureMs).unref()
  }
  const send = (): void => {
    isScheduled = false
    if (isClosed) return
    for (unsent ??= lines.take(); unsent !== undefined; unsent ??= lines.take()) {
      if (descriptor === undefined) {
        sendInThread(unsent)
        return
      }
      try {
        onWritten(unsent, writeSync(fd, unsent))
      } catch (error) {
        onFailure(error)
        return
      }
    }
  }
  /** For descriptors on which a write may block. */
  const sendInThread = (bytes: Buffer): void => {
    isInThread = true
    stuckSinceMs ??= performance.now()
    write(fd, bytes, (error, written) => {
      isInThread = false
      if (error) {
        onFailure(error)
        return
      }
      onWritten(bytes, written)
      send()
    })
  }
  /** Writes synchronously when the process exits, since the event loop will not run again. */
  const flush = (): void => {
    const giveUpMs = (stuckSinceMs ?? performance.now()) + exitFlushMs
    if (isInThread) {
      if (performance.now() > giveUpMs) return
      // Whether the thread has written its lines can no longer be observed, so it gets some time first.
      pause(10)
      unsent = undefined
    }
    for (unsent ??= lines.take(); unsent !== undefined; unsent ??= lines.take()) {
      try {
        onWritten(unsent, writeSync(fd, unsent))
      } catch (error) {
        // The failure cannot be logged anywhere.
        if (toCode(error) !== 'EAGAIN' || performance.now() > giveUpMs) return
        pause(1)
      }
    }
  }
  process.on('exit', flush)

  return {
    write(line) {
      if (isClosed) return
      lines.add(line)
      if (isScheduled || isInThread) return
      // Other lines of this turn are written together with it.
      isScheduled = true
      setImmediate(send)
    },
    [Symbol.dispose]() {
      if (isClosed) return
      process.off('exit', flush)
      flush()
      isClosed = true
      descriptor?.[Symbol.dispose]()
    },
  }
}

/** Buffers lines up to a limit; lines beyond it are only counted. */
class WaitingLines {
  /** Why lines were dropped. */
  reason: string
  readonly #format: LineFormat
  readonly #limitBytes: number
  #lines: string[] = []
  #bytes = 0
  #dropped = 0

  constructor({ format = 'text', limitBytes = 1 << 20 }: LogOutputSettings, reason: string) {
    this.#format = format
    this.#limitBytes = limitBytes
    this.reason = reason
  }

  add(line: string): void {
    if (this.#bytes + line.length > this.#limitBytes) {
      this.#dropped += 1
    } else {
      this.#lines.push(line)
      this.#bytes += line.length
    }
  }

  /** Returns all lines, and how many were dropped; undefined if there is nothing to write. */
  take(): Buffer | undefined {
    if (this.#dropped > 0) {
      const count = toCountText(this.#dropped, 'log line was', 'log lines were')
      const message = `${count} dropped: ${this.reason}`
      this.#lines.push(toLogLine(this.#format, 'warning', message))
    }
    if (this.#lines.length === 0) return undefined
    const text = this.#lines.join('')
    this.#lines = []
    this.#bytes = 0
    this.#dropped = 0
    return Buffer.from(text)
  }
}

/** Sleeps synchronously, without the event loop. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
