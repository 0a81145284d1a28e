import { write, writeSync } from 'node:fs'
import process from 'node:process'
import { type LineFormat, toLogLine } from './log.ts'
import { openUnblocked } from './unblocked-descriptor.ts'

export interface LogOutput extends Disposable {
  write(line: string): void
}

export interface LogOutputSettings {
  /** 2 is standard error. */
  readonly fd: number
  /** Of the line that says how many others are missing. */
  readonly format?: LineFormat
  /** How much may wait for a reader that does not read, or a disk that is full. */
  readonly limitBytes?: number
}

/** How soon to try again what could not be written: a reader may be back at any moment. */
const fullPipeMs = 20
const failureMs = 500

/** How long a process that ends waits for somebody to read its last words. */
const lastWordsMs = 500

/**
 * Writes lines to a file descriptor without ever waiting for it. `process.stderr` stops the whole
 * process while a full pipe is not read; here lines wait, and are dropped and counted when too many
 * do. The same holds while a disk is full.
 */
export function openLogOutput(settings: LogOutputSettings): LogOutput {
  const descriptor = openUnblocked(settings.fd)
  const fd = descriptor?.fd ?? settings.fd
  const tooSlow = descriptor ? 'nobody read the log' : 'the disk was too slow'
  const lines = new WaitingLines(settings, tooSlow)
  /** What is left of the lines that are being written. */
  let unsent: Buffer | undefined
  /** A thread writes; nobody can tell how far it is. */
  let isInThread = false
  let isScheduled = false
  let isClosed = false
  /** Since when nothing could be written. */
  let stuckSinceMs: number | undefined

  const onWritten = (bytes: Buffer, written: number): void => {
    stuckSinceMs = undefined
    unsent = written < bytes.length ? bytes.subarray(written) : undefined
  }
  const onFailure = (error: unknown): void => {
    stuckSinceMs ??= performance.now()
    const isFull = isFullPipe(error)
    lines.reason = isFull ? tooSlow : `the log cannot be written (${toText(error)})`
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
  /** Where a write may take its time. */
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
  /** The last words: the event loop will not come round again. */
  const flush = (): void => {
    const giveUpMs = (stuckSinceMs ?? performance.now()) + lastWordsMs
    if (isInThread) {
      if (performance.now() > giveUpMs) return
      // Nobody can tell us any more that the lines in flight have arrived: let them go first.
      pause(10)
      unsent = undefined
    }
    for (unsent ??= lines.take(); unsent !== undefined; unsent ??= lines.take()) {
      try {
        onWritten(unsent, writeSync(fd, unsent))
      } catch (error) {
        // There is nowhere left to say that the log cannot be written.
        if (!isFullPipe(error) || performance.now() > giveUpMs) return
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
      // Whatever else is logged in this turn goes with it.
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

/** Up to a limit; the lines beyond it are only counted. */
class WaitingLines {
  /** Why lines are dropped. */
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

  /** All of them, and how many are missing; undefined where there is nothing to say. */
  take(): Buffer | undefined {
    if (this.#dropped > 0) {
      const message = `${this.#dropped} log lines were dropped: ${this.reason}`
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

function isFullPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Without the event loop. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
