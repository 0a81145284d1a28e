import { Socket } from 'node:net'

type Done = (error?: Error | null) => void

/** A socket without a network that keeps the written bytes in memory. */
export class MemorySocket extends Socket {
  readonly written: Buffer[] = []
  /** The peer does not read, so written bytes are not sent. */
  isStuck = false
  #done: Done | undefined

  /**
   * Accepts everything immediately, without the queue of a real socket, unless the peer is stuck.
   */
  override write(chunk: Uint8Array | string): boolean {
    if (this.isStuck) return super.write(chunk)
    this.#keep(chunk)
    return true
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.#keep(chunk)
    if (this.isStuck) this.#done = done
    else done()
  }

  override _writev(chunks: readonly { chunk: Buffer; encoding: string }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), '', done)
  }

  override _read(): void {}

  /** Makes the peer read again. */
  unstick(): void {
    this.isStuck = false
    const done = this.#done
    this.#done = undefined
    done?.()
  }

  /** Copies the chunk, since the connection reuses its memory once everything is sent. */
  #keep(chunk: Uint8Array | string): void {
    this.written.push(Buffer.from(chunk))
  }
}
