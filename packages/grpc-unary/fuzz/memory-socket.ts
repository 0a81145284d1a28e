import { Socket } from 'node:net'

type Done = (error?: Error | null) => void

/** A socket that leads nowhere: it keeps what is written, so that no input needs the network. */
export class MemorySocket extends Socket {
  readonly written: Buffer[] = []
  /** The peer does not read: nothing that is written gets away. */
  isStuck = false
  #done: Done | undefined

  /** Takes everything at once, which saves the queue of a real socket, unless the peer is stuck. */
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

  /** The peer reads again. */
  unstick(): void {
    this.isStuck = false
    const done = this.#done
    this.#done = undefined
    done?.()
  }

  /** A copy, since the connection uses the memory again once it is told that all is sent. */
  #keep(chunk: Uint8Array | string): void {
    this.written.push(Buffer.from(chunk))
  }
}
