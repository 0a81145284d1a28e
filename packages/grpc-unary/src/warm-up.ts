import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { PREFIX_SIZE } from './grpc/answer.ts'
import {
  FRAME_HEADER_SIZE,
  flag,
  frameType,
  PREFACE,
  putFrameHeader,
  toSettingsFrame,
} from './http2/frames.ts'
import type { Methods } from './method.ts'
import { createGrpcServer } from './server.ts'

/** The calls that {@link makeWarmUpCalls} makes. */
export interface WarmUpSettings {
  /** The methods of the server to warm up. */
  readonly methods: Methods
  /** The unary method to call. */
  readonly path: string
  /** The request messages, used in turn; each must fit into one frame. */
  readonly messages: readonly Uint8Array[]
  /** Number of connections, one after the other. */
  readonly connections: number
  /** Number of calls on each connection. */
  readonly callsPerConnection: number
}

/**
 * Calls a method through its own server and sockets on the loopback interface, so that all code
 * between a socket and the response has run before the first client connects. It makes single calls,
 * as a first client would, and then several in one read.
 * @returns the number of answered calls.
 */
export async function makeWarmUpCalls(
  settings: WarmUpSettings,
  signal: AbortSignal,
): Promise<number> {
  const server = createGrpcServer({ methods: settings.methods })
  const stop = (): void => void server.close()
  try {
    const bound = await server.listen({ host: '127.0.0.1', port: 0 })
    if (!('port' in bound)) return 0
    signal.addEventListener('abort', stop)
    let answered = 0
    for (let n = 0; n < settings.connections && !signal.aborted; n++) {
      answered += await useConnection(connect(bound.port, bound.host), settings)
    }
    return answered
  } finally {
    signal.removeEventListener('abort', stop)
    await server.close()
  }
}

/** How many calls are sent together, after single calls have succeeded. */
const BATCH = 8

async function useConnection(socket: Socket, settings: WarmUpSettings): Promise<number> {
  const { path, messages, callsPerConnection } = settings
  const lost = once(socket, 'close').then(() => Number.POSITIVE_INFINITY)
  socket.on('error', () => {})
  socket.setNoDelay(true)
  socket.write(Buffer.concat([PREFACE, toSettingsFrame([])]))
  const answers = countAnswers(socket)
  let sent = 0
  while (sent < callsPerConnection) {
    const size = sent < callsPerConnection / 2 ? 1 : BATCH
    const calls: Buffer[] = []
    for (let n = 0; n < size; n++) {
      const message = messages[sent % messages.length]
      if (message !== undefined) calls.push(toCall(2 * sent + 1, path, message))
      sent += 1
    }
    socket.write(Buffer.concat(calls))
    if ((await Promise.race([answers.reach(sent), lost])) === Number.POSITIVE_INFINITY) break
  }
  socket.destroy()
  return answers.count
}

/** Counts the frames that end a stream, which are the last of each response. */
function countAnswers(socket: Socket) {
  let rest: Buffer = Buffer.alloc(0)
  let target = 0
  let reached: (count: number) => void = () => {}
  const answers = {
    count: 0,
    reach(count: number): Promise<number> {
      target = count
      return new Promise((resolve) => {
        reached = resolve
        if (answers.count >= target) resolve(answers.count)
      })
    },
  }
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      if (rest.length < FRAME_HEADER_SIZE) break
      const end = FRAME_HEADER_SIZE + rest.readUIntBE(0, 3)
      if (rest.length < end) break
      const isEnd = (rest.readUInt8(4) & flag.END_STREAM) !== 0
      if (rest.readUInt8(3) === frameType.HEADERS && isEnd) answers.count += 1
      rest = rest.subarray(end)
    }
    if (answers.count >= target) reached(answers.count)
  })
  return answers
}

function toCall(id: number, path: string, message: Uint8Array): Buffer {
  const fields = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'localhost'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    // Deadlines differ from call to call, as with proxies, so not every header block is cached.
    ['grpc-timeout', `${10_000 + (id % 16)}m`],
  ] as const
  const block = Buffer.concat(fields.flatMap(([name, value]) => toField(name, value)))
  const data = Buffer.alloc(PREFIX_SIZE + message.length)
  data.writeUInt32BE(message.length, 1)
  data.set(message, PREFIX_SIZE)
  return Buffer.concat([
    toFrame(frameType.HEADERS, flag.END_HEADERS, id, block),
    toFrame(frameType.DATA, flag.END_STREAM, id, data),
  ])
}

/** A literal that enters the decoder's table (RFC 7541 6.2.1); both strings are short. */
function toField(name: string, value: string): Buffer[] {
  const texts = [name, value].map((text) => Buffer.from(text, 'latin1'))
  return [Buffer.from([0x40]), ...texts.flatMap((text) => [Buffer.from([text.length]), text])]
}

function toFrame(type: number, flags: number, id: number, payload: Buffer): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER_SIZE + payload.length)
  payload.copy(frame, putFrameHeader(frame, 0, payload.length, type, flags, id))
  return frame
}
