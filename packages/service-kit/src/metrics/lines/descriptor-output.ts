import { write } from 'node:fs'
import { openUnblocked, type UnblockedDescriptor } from '../../log/unblocked-descriptor.ts'
import { LineQueue, type Output, type ReportSettings, Reports } from './output.ts'

/** The pause before the next attempt to write to a full pipe. */
const fullPipeMs = 20

/**
 * Writes to a file descriptor, such as standard output, without ever blocking. Writing to `process.stdout` blocks
 * the whole process while a pipe is full.
 */
export function openDescriptorOutput(fd: number, reports: ReportSettings): Output {
  return new DescriptorOutput(fd, new Reports(reports))
}

class DescriptorOutput implements Output {
  readonly tried = Promise.resolve()
  readonly #fd: number
  readonly #unblocked: UnblockedDescriptor | undefined
  readonly #reports: Reports
  readonly #queue = new LineQueue()
  #isOpen = true
  #isWriting = false
  #sent: (() => void) | undefined

  constructor(fd: number, reports: Reports) {
    this.#unblocked = openUnblocked(fd)
    this.#fd = this.#unblocked?.fd ?? fd
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
    if (!this.#isWriting) this.#unblocked?.[Symbol.dispose]()
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
