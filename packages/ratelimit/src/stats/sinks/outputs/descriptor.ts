import { close as closeFile, constants, fstatSync, openSync, write } from 'node:fs'
import { LineQueue } from './line-queue.ts'
import type { Output } from './output.ts'
import { type ReportSettings, Reports } from './reports.ts'

/** How long a full pipe is left alone. */
const fullPipeMs = 20

/**
 * Writes to a file descriptor, such as standard output, without ever waiting for it.
 * `process.stdout` stops the whole process while a full pipe is not read.
 */
export function openDescriptorOutput(fd: number, reports: ReportSettings): Output {
  return new DescriptorOutput(fd, new Reports(reports))
}

class DescriptorOutput implements Output {
  readonly tried = Promise.resolve()
  readonly #fd: number
  readonly #isOwn: boolean
  readonly #reports: Reports
  readonly #queue = new LineQueue()
  #isOpen = true
  #isWriting = false
  #sent: (() => void) | undefined

  constructor(fd: number, reports: Reports) {
    const own = openUnblocked(fd)
    this.#fd = own ?? fd
    this.#isOwn = own !== undefined
    this.#reports = reports
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get isFull(): boolean {
    return this.#queue.isFull
  }

  async room(): Promise<void> {
    if (this.#isOpen) await this.#queue.room()
  }

  write(line: string): void {
    if (!this.#isOpen) return
    this.#queue.add(line)
    if (this.#queue.hasChunk) this.send()
  }

  send(): void {
    if (this.#isWriting || !this.#isOpen) return
    const chunk = this.#queue.take()
    if (chunk === undefined) this.#sent?.()
    else this.#writeBytes(chunk)
  }

  async close(giveUp: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#sent = resolve
    giveUp.addEventListener('abort', () => resolve(), { once: true })
    if (this.#isOpen && !giveUp.aborted) {
      this.send()
      await promise
    }
    this.#isOpen = false
    this.#queue.release()
    if (this.#isOwn && !this.#isWriting) closeFile(this.#fd)
  }

  #writeBytes(bytes: Buffer): void {
    this.#isWriting = true
    write(this.#fd, bytes, (error, written) => {
      this.#isWriting = false
      if (!this.#isOpen) return
      if (error?.code === 'EAGAIN') {
        this.#isWriting = true
        setTimeout(() => this.#writeBytes(bytes), fullPipeMs).unref()
      } else if (error !== null) {
        this.#onLost(error)
      } else if (written < bytes.length) {
        this.#writeBytes(bytes.subarray(written))
      } else {
        this.send()
      }
    })
  }

  #onLost(error: Error): void {
    this.#isOpen = false
    this.#queue.release()
    this.#sent?.()
    this.#reports.lost(error.message)
  }
}

/**
 * The same pipe or terminal once more, in a way that says "full" where the other would wait: a
 * write that waits occupies a thread of the process for good, and keeps it from ending. Undefined
 * for what cannot be opened twice; the flag itself is shared with other programs, so it is not
 * changed on the descriptor we were given.
 */
function openUnblocked(fd: number): number | undefined {
  try {
    const kind = fstatSync(fd)
    if (!kind.isFIFO() && !kind.isCharacterDevice()) return undefined
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}
