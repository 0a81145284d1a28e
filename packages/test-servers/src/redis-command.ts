import { once } from 'node:events'
import { connect } from 'node:net'
import { host } from './free-port.ts'

export type RedisReply = string | number | null | readonly RedisReply[]

export interface RedisTarget {
  readonly port: number
  readonly password?: string | undefined
}

/** A server that does not reply for this long hangs; a busy machine may take many seconds. */
const hangMs = 120_000

/** Sends one command over a new connection; rejects on an error reply. */
export async function redisCommand(
  { port, password }: RedisTarget,
  ...command: readonly (string | number)[]
): Promise<RedisReply> {
  const socket = connect({ host, port, noDelay: true })
  const hang = `Redis did not reply within ${hangMs / 1000} s`
  socket.setTimeout(hangMs, () => socket.destroy(new Error(hang)))
  try {
    await once(socket, 'connect')
    const commands = password === undefined ? [command] : [['AUTH', password], command]
    socket.write(commands.map(encode).join(''))
    let received = Buffer.alloc(0)
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk])
      const replies = decodeAll(received)
      if (replies.length < commands.length) continue
      const failure = replies.find((reply) => reply instanceof Error)
      if (failure) throw failure
      return toReply(replies.at(-1))
    }
    throw new Error('Redis closed the connection without a reply')
  } finally {
    socket.destroy()
  }
}

function encode(command: readonly (string | number)[]): string {
  const parts = command.map((part) => `$${Buffer.byteLength(`${part}`)}\r\n${part}\r\n`)
  return `*${parts.length}\r\n${parts.join('')}`
}

/** A reply in RESP 2 is a type byte and a line, which for some types is followed by more data. */
type Decoded = RedisReply | Error
interface Step {
  readonly value: Decoded
  readonly end: number
}

function decodeAll(bytes: Buffer): Decoded[] {
  const values: Decoded[] = []
  for (let at = 0; ; ) {
    const step = decode(bytes, at)
    if (!step) return values
    values.push(step.value)
    at = step.end
  }
}

function decode(bytes: Buffer, start: number): Step | undefined {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd < 0) return undefined
  const type = bytes.toString('latin1', start, start + 1)
  const line = bytes.toString('utf8', start + 1, lineEnd)
  const end = lineEnd + 2
  if (type === '+') return { value: line, end }
  if (type === '-') return { value: new Error(line), end }
  if (type === ':') return { value: Number(line), end }
  const size = Number(line)
  if (size < 0) return { value: null, end }
  if (type === '$') {
    const value = bytes.toString('utf8', end, end + size)
    return end + size + 2 <= bytes.length ? { value, end: end + size + 2 } : undefined
  }
  const items: RedisReply[] = []
  let at = end
  while (items.length < size) {
    const step = decode(bytes, at)
    if (!step) return undefined
    items.push(toReply(step.value))
    at = step.end
  }
  return { value: items, end: at }
}

function toReply(value: Decoded | undefined): RedisReply {
  if (value === undefined || value instanceof Error) throw value ?? new Error('no reply')
  return value
}

/** The value of one line of INFO or CLUSTER INFO, such as `process_id:42`. */
export function fieldOf(reply: RedisReply, name: string): string | undefined {
  const line = `${reply}`.split(/\r?\n/).find((candidate) => candidate.startsWith(`${name}:`))
  return line?.slice(name.length + 1)
}
