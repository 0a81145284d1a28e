import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openMailServer, type ReceivedMail } from './mail-server.ts'

/** What the server does with a connection; it can open one to a working server. */
type Behaviour = (client: Socket, openReal: () => Socket, rest: Promise<void>) => void

const works: Behaviour = (client, openReal) => {
  const real = openReal()
  client.pipe(real).pipe(client)
}

/** Answers one command itself and forwards the others. */
const answer =
  (command: string, reply: string): Behaviour =>
  (client, openReal) => {
    const real = openReal()
    real.pipe(client)
    const pass = async () => {
      for await (const line of createInterface({
        input: client,
        crlfDelay: Number.POSITIVE_INFINITY,
      })) {
        if (line.startsWith(command)) client.write(`${reply}\r\n`)
        else real.write(`${line}\r\n`)
      }
    }
    pass().catch(() => {})
  }

const behaviours = {
  works,
  'sends nothing': () => {},
  'sends nothing after its greeting': (client) => void client.write('220 mail.example\r\n'),
  'is too busy': (client) => void client.end('421 4.3.2 Too busy\r\n'),
  'refuses all clients': (client) => void client.end('554 5.7.1 No mail here\r\n'),
  'refuses the sender': answer('MAIL FROM', '550 5.7.1 Who is that?'),
  'has no room for the recipient': answer('RCPT TO', '452 4.2.2 Mailbox full'),
  'has no room for the message': answer('DATA', '451 4.3.0 Disk full'),
  'disconnects in the middle of a message': (client, openReal) => {
    const real = openReal()
    real.pipe(client)
    client.on('data', (bytes: Buffer) => {
      if (bytes.includes('Message-ID:')) client.resetAndDestroy()
      else real.write(bytes)
    })
  },
  'sends one byte at a time': (client, openReal, rest) => {
    const real = openReal()
    client.pipe(real)
    const dribble = async () => {
      for await (const chunk of real) {
        for (const byte of chunk) {
          if (client.destroyed) return
          client.write(Buffer.of(byte))
          await Promise.all([rest, sleep(1)])
        }
      }
    }
    dribble().catch(() => {})
  },
} satisfies Record<string, Behaviour>

export type BehaviourName = keyof typeof behaviours

export interface FaultyMailServer {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  /** The total number of connections, and the number of open ones. */
  readonly connections: number
  readonly open: number
  /** Sets the behaviour and disconnects clients. */
  behave(name: BehaviourName): void
  /** Lets the slow behaviour continue after its first byte. */
  sendRest(): void
  /** Stops listening until `listen` is called. */
  stopListening(): Promise<void>
  listen(): Promise<void>
}

/** A mail server that can fail in several ways and recover. */
export async function openFaultyMailServer(t: TestContext): Promise<FaultyMailServer> {
  const real = await openMailServer(t)
  const sockets = new Set<Socket>()
  let behaviour: Behaviour = works
  let connections = 0
  const rest = Promise.withResolvers<void>()
  const cutOff = () => {
    for (const socket of sockets) socket.destroy()
  }
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    return socket
  }
  const clients = new Set<Socket>()
  const openServer = async (port: number): Promise<Server> => {
    const server = createServer((client) => {
      connections++
      clients.add(keep(client))
      client.once('close', () => clients.delete(client))
      behaviour(
        client,
        () => {
          const socket = keep(connect(real.port, '127.0.0.1'))
          client.once('close', () => socket.destroy())
          return socket
        },
        rest.promise,
      )
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  let server = await openServer(0)
  const { port } = server.address() as AddressInfo
  const stopListening = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    cutOff()
    await closed
  }
  t.after(stopListening)
  return {
    port,
    received: real.received,
    get connections() {
      return connections
    },
    get open() {
      return clients.size
    },
    behave(name) {
      behaviour = behaviours[name]
      cutOff()
    },
    sendRest: () => rest.resolve(),
    stopListening,
    async listen() {
      server = await openServer(port)
    },
  }
}
