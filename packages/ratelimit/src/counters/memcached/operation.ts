import { StoreError } from '../counter-store.ts'
import { ProtocolError } from './reply-reader.ts'

/** The connection on which a reply came: a further command of the same change goes there, too. */
export interface CommandSender {
  /** Gives the reason if the command cannot be sent. */
  send(command: string, operation: Operation): StoreError | undefined
}

/**
 * A command while its reply is on the way. Each kind hears the replies it can have; any other means
 * that we and the node no longer agree on where replies start.
 */
export abstract class Operation {
  /** When nobody waits for it any more, as `Date.now()`. Its reply still comes, and says nothing. */
  abstract readonly deadlineMs: number
  isDone = false

  /** No reply came in time, or none ever will. */
  abstract fail(reason: StoreError): void

  onValue(_name: string, _count: number): void {
    this.#refuse('a value')
  }

  onEnd(): void {
    this.#refuse('END')
  }

  onNumber(_from: CommandSender, _value: number): void {
    this.#refuse('a number')
  }

  onStatus(_from: CommandSender, text: string): void {
    this.#refuse(text.slice(0, 100))
  }

  #refuse(what: string): never {
    const message = `memcached sent ${what} in answer to another command`
    if (!this.isDone) this.fail(new StoreError(message))
    throw new ProtocolError(message)
  }
}

/** A `get` of nothing, to find out that a node is gone before a call does. */
export class Ping extends Operation {
  readonly deadlineMs = Number.POSITIVE_INFINITY

  override fail(): void {}

  override onValue(): void {}

  override onEnd(): void {}

  override onStatus(): void {}
}

/** Like every other name that is sent; whether a node has it does not matter. */
export const pingCommand = 'get portcullis_ping\r\n'
