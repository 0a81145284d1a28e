import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { PostgresServer } from '../../src/index.ts'

/**
 * Logs in with SCRAM-SHA-256 (RFC 7677) and runs one query over PostgreSQL's protocol 3.0, so
 * that the test of our server needs no client library. Resolves to the first column of each row.
 */
export async function queryPostgres(server: PostgresServer, sql: string): Promise<string[]> {
  const socket = connect({ host: server.host, port: server.port })
  try {
    await once(socket, 'connect')
    const messages = readMessages(socket)
    const nonce = randomBytes(18).toString('base64')
    socket.write(startup(server.user, server.database))
    await expectMessage(messages, 'R', 10)
    const firstBare = `n=,r=${nonce}`
    socket.write(message('p', `SCRAM-SHA-256\0`, int32(firstBare.length + 3), `n,,${firstBare}`))
    const serverFirst = (await expectMessage(messages, 'R', 11)).toString('utf8', 4)
    socket.write(message('p', proveScram(server.password, firstBare, serverFirst)))
    await expectMessage(messages, 'R', 12)
    await expectMessage(messages, 'R', 0)
    socket.write(message('Q', `${sql}\0`))
    const rows: string[] = []
    let hasAsked = false
    for await (const { type, body } of messages) {
      if (type === 'E') throw new Error(body.toString('utf8'))
      if (type === 'D') rows.push(body.toString('utf8', 6, 6 + body.readInt32BE(2)))
      // The first "ready" ends the login, the second one the query.
      if (type === 'Z' && hasAsked) return rows
      if (type === 'Z') hasAsked = true
    }
    throw new Error('the connection ended within the query')
  } finally {
    socket.destroy()
  }
}

interface Message {
  readonly type: string
  readonly body: Buffer
}

async function* readMessages(socket: Socket): AsyncGenerator<Message, undefined, undefined> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk])
    while (bytes.length >= 5 && bytes.length > bytes.readInt32BE(1)) {
      const end = 1 + bytes.readInt32BE(1)
      yield { type: bytes.toString('latin1', 0, 1), body: bytes.subarray(5, end) }
      bytes = bytes.subarray(end)
    }
  }
}

async function expectMessage(
  messages: AsyncGenerator<Message, undefined, undefined>,
  type: string,
  kind: number,
): Promise<Buffer> {
  const { value } = await messages.next()
  if (value?.type === type && value.body.readInt32BE(0) === kind) return value.body
  throw new Error(`expected ${type} ${kind}, received ${value?.type}: ${value?.body}`)
}

function proveScram(password: string, firstBare: string, serverFirst: string): string {
  const fields = new Map(serverFirst.split(',').map((field) => [field[0], field.slice(2)]))
  const salt = Buffer.from(fields.get('s') ?? '', 'base64')
  const salted = pbkdf2Sync(password, salt, Number(fields.get('i')), 32, 'sha256')
  const clientKey = createHmac('sha256', salted).update('Client Key').digest()
  const storedKey = createHash('sha256').update(clientKey).digest()
  const lastWithoutProof = `c=biws,r=${fields.get('r')}`
  const signature = createHmac('sha256', storedKey)
    .update(`${firstBare},${serverFirst},${lastWithoutProof}`)
    .digest()
  const proof = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0))
  return `${lastWithoutProof},p=${Buffer.from(proof).toString('base64')}`
}

function startup(user: string, database: string): Buffer {
  const body = Buffer.concat([
    int32(196_608),
    Buffer.from(`user\0${user}\0database\0${database}\0\0`),
  ])
  return Buffer.concat([int32(body.length + 4), body])
}

function message(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
