import { write, writeSync } from 'node:fs'
import process from 'node:process'
import { type LogFormat, toLogLine } from './log.ts'

export interface LogOutput extends Disposable {
  write(line: string): void
}

export interface LogOutputSettings {
  /** 2 is standard error. */
  readonly fd: number
  /** Of the line that says how many others are missing. */
  readonly format?: LogFormat
  /** How much may wait for a reader that does not read. */
  readonly limitBytes?: number
}

/**
 * Writes lines to a file descriptor without ever waiting for it. `process.stderr` stops the whole
 * process while a full pipe is not read; here lines are dropped then, and counted.
 */
export function openLogOutput(settings: LogOutputSettings): LogOutput {
  const { fd, format = 'text', limitBytes = 1 << 20 } = settings
  let waiting: string[] = []
  let waitingBytes = 0
  let dropped = 0
  let inFlight: Buffer | undefined
  let inFlightSince = 0

  const takeWaiting = (): Buffer => {
    if (dropped > 0) {
      const message = `${dropped} log lines were dropped: nobody read the log`
      waiting.push(toLogLine(format, 'warning', message))
    }
    const text = waiting.join('')
    waiting = []
    waitingBytes = 0
    dropped = 0
    return Buffer.from(text)
  }
  const send = (bytes: Buffer): void => {
    inFlight = bytes
    inFlightSince = performance.now()
    write(fd, bytes, (error, written) => {
      inFlight = undefined
      if (error?.code === 'EAGAIN') {
        // A pipe that somebody else made non-blocking, and that is full.
        inFlight = bytes
        setTimeout(send, 20, bytes).unref()
      } else if (error === null && written < bytes.length) {
        send(bytes.subarray(written))
      } else if (waiting.length > 0 || dropped > 0) {
        send(takeWaiting())
      }
    })
  }
  /** The last words: the event loop will not come round again. */
  const flush = (): void => {
    const isStuck = inFlight !== undefined && performance.now() - inFlightSince > 500
    if (isStuck || (waiting.length === 0 && dropped === 0)) return
    // Nobody can tell us any more that the lines in flight have arrived: let them go first.
    if (inFlight !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    try {
      writeSync(fd, takeWaiting())
    } catch {
      // There is nowhere left to say that the log cannot be written.
    }
  }
  process.on('exit', flush)

  return {
    write(line) {
      if (inFlight === undefined) {
        send(Buffer.from(line))
      } else if (waitingBytes + line.length > limitBytes) {
        dropped++
      } else {
        waiting.push(line)
        waitingBytes += line.length
      }
    },
    [Symbol.dispose]() {
      process.off('exit', flush)
      flush()
    },
  }
}
