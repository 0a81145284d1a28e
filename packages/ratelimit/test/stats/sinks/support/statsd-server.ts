import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const lineFormat = /^([^:|\n]+):(-?\d+|-?\d+\.\d{6})\|(c|g|ms)(?:\|#([^|\n]+))?$/

/** The data that a statsd server received. Invalid data makes `check` fail. */
export class Received {
  readonly lines: string[] = []
  readonly packets: Buffer[] = []
  /** The sums of counters, by name and tags. */
  readonly counters = new Map<string, number>()
  readonly gauges = new Map<string, number>()
  readonly timers = new Map<string, number[]>()
  readonly #wrong: string[] = []

  /** Adds complete lines, with their line breaks. */
  add(text: string): void {
    const lines = text.split('\n')
    if (lines.pop() !== '') this.#wrong.push(`no end of line: ${text.slice(-100)}`)
    for (const line of lines) this.#addLine(line)
  }

  /** Waits for two minutes at most. The time limit is only for hangs. */
  async until(isThere: () => boolean, what: string): Promise<void> {
    for (let i = 0; i < 12_000; i += 1) {
      if (isThere()) return
      await sleep(10)
    }
    assert.fail(`${what} never came; received: ${this.lines.slice(-20).join(' ')}`)
  }

  check(): void {
    assert.deepEqual(this.#wrong, [])
  }

  #addLine(line: string): void {
    const [, name, text, type, tags] = lineFormat.exec(line) ?? []
    if (name === undefined) {
      this.#wrong.push(line)
      return
    }
    this.lines.push(line)
    const whole = tags === undefined ? name : `${name}#${tags}`
    const value = Number(text)
    if (type === 'c') {
      if (value === 0) this.#wrong.push(`a difference of zero: ${line}`)
      this.counters.set(whole, (this.counters.get(whole) ?? 0) + value)
    } else if (type === 'g') {
      this.gauges.set(whole, value)
    } else {
      const durations = this.timers.get(whole) ?? []
      durations.push(value)
      this.timers.set(whole, durations)
    }
  }
}

export interface StatsdServer {
  readonly port: number
  readonly received: Received
}

export async function openUdpStatsd(t: TestContext): Promise<StatsdServer> {
  const received = new Received()
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 })
  socket.on('message', (packet) => {
    received.packets.push(packet)
    received.add(packet.toString())
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return { port: socket.address().port, received }
}

export interface TcpStatsd extends StatsdServer {
  readonly connections: Set<Socket>
  /** Stops reading, or continues. */
  pause(): void
  resume(): void
  /** Ends all connections and stops listening. */
  stop(): Promise<void>
}

/** @param port - 0 for any free port */
export async function openTcpStatsd(t: TestContext, port = 0): Promise<TcpStatsd> {
  const received = new Received()
  const connections = new Set<Socket>()
  let isPaused = false
  const server = createServer((socket) => {
    connections.add(socket)
    if (isPaused) socket.pause()
    let rest = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      const whole = rest + text
      const end = whole.lastIndexOf('\n') + 1
      rest = whole.slice(end)
      if (end > 0) received.add(whole.slice(0, end))
    })
    socket.on('error', () => {}).on('close', () => connections.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    for (const socket of connections) socket.destroy()
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    await closed
  }
  t.after(stop)
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    port: address.port,
    received,
    connections,
    pause() {
      isPaused = true
      for (const socket of connections) socket.pause()
    },
    resume() {
      isPaused = false
      for (const socket of connections) socket.resume()
    },
    stop,
  }
}
