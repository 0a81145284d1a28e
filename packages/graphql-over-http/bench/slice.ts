import { connect } from 'node:net'
import { Latencies } from '@portcullis/bench-kit/latencies'
import { lengthOfResponse } from './response-length.ts'

/** One period of load on one server. */
export interface SliceJob {
  readonly port: number
  readonly body: string
  readonly connections: number
  readonly seconds: number
}

export interface SliceOutcome {
  readonly requests: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** The headers that GraphQL clients send, with the weight that the specification recommends. */
function toRequest({ port, body }: SliceJob): Buffer {
  return Buffer.from(
    [
      'POST /graphql HTTP/1.1',
      `host: 127.0.0.1:${port}`,
      'content-type: application/json',
      'accept: application/graphql-response+json, application/json;q=0.9',
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
}

/**
 * Keeps each connection busy with one request after the other until the time is over. It uses plain
 * sockets, because a general HTTP client needs more CPU time per request than the fast contenders
 * and would become the bottleneck.
 */
export async function runSlice(job: SliceJob): Promise<SliceOutcome> {
  const request = toRequest(job)
  const latencies = new Latencies()
  const start = performance.now()
  const deadline = start + job.seconds * 1000
  await Promise.all(
    Array.from({ length: job.connections }, () =>
      keepBusy(job.port, request, deadline, (ms) => latencies.add(ms)),
    ),
  )
  const seconds = (performance.now() - start) / 1000
  return {
    requests: latencies.count,
    seconds,
    p50Ms: latencies.quantile(0.5),
    p99Ms: latencies.quantile(0.99),
  }
}

const silenceMs = 10_000
const okLine = Buffer.from('HTTP/1.1 200 ')

function keepBusy(
  port: number,
  request: Buffer,
  deadline: number,
  onLatency: (ms: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    socket.setTimeout(silenceMs, () => fail(`no response within ${silenceMs / 1000} s`))
    const fail = (why: string) => {
      socket.destroy()
      reject(new Error(`The server on port ${port} failed under load: ${why}`))
    }

    // The first response is parsed. Later responses differ only in the date, so counting their
    // bytes is enough.
    let first: Buffer = Buffer.alloc(0)
    let expected = 0
    let received = 0
    let sentAt = 0
    const send = () => {
      received = 0
      sentAt = performance.now()
      socket.write(request)
    }
    socket.on('connect', send)
    socket.on('error', (error) => fail(error.message))
    socket.on('close', () => reject(new Error(`The server on port ${port} closed the connection`)))
    socket.on('data', (chunk: Buffer) => {
      if (received === 0 && chunk.compare(okLine, 0, okLine.length, 0, okLine.length) !== 0) {
        return fail(`it responded with ${chunk.toString('latin1').split('\r\n', 1)[0]}`)
      }
      received += chunk.length
      if (expected === 0) {
        first = Buffer.concat([first, chunk])
        expected = lengthOfResponse(first)
        if (expected === 0) return
      }
      if (received < expected) return
      if (received > expected) return fail('its responses differ in length')
      const now = performance.now()
      onLatency(now - sentAt)
      if (now < deadline) return send()
      resolve()
      socket.destroy()
    })
  })
}
