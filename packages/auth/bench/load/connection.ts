import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Target } from '@portcullis/bench-kit/server-process'
import { type Response, ResponseReader } from './response-reader.ts'

/** A connection with one request at a time; a client library would use as much CPU as a server. */
export class Connection {
  readonly #socket: Socket
  readonly #reader = new ResponseReader()
  #answered: (response: Response, ms: number) => void = () => {}
  #sentAtMs = 0

  private constructor(socket: Socket, onFailure: (error: Error) => void) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => {
      const response = this.#reader.push(bytes)
      if (response) this.#answered(response, performance.now() - this.#sentAtMs)
    })
    socket.on('error', onFailure)
    socket.on('end', () => onFailure(new Error('The server closed a connection')))
  }

  static async open(
    { host, port }: Target,
    onFailure: (error: Error) => void,
  ): Promise<Connection> {
    const socket = connect(port, host).setNoDelay()
    await once(socket, 'connect')
    return new Connection(socket, onFailure)
  }

  /** @param sinceMs the time from which latency is measured */
  send(
    request: string,
    answered: (response: Response, ms: number) => void,
    sinceMs = performance.now(),
  ): void {
    this.#answered = answered
    this.#sentAtMs = sinceMs
    this.#socket.write(request)
  }

  close(): void {
    this.#socket.removeAllListeners('end').destroy()
  }
}
