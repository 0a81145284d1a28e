import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

/** The records of one domain. A domain without an entry does not exist. */
export interface DnsRecords {
  /** Host names of mail servers; an empty name says that the domain receives no email. */
  readonly mx?: readonly string[]
  readonly a?: readonly string[]
  readonly aaaa?: readonly string[]
}

export interface DnsServer {
  /** `127.0.0.1:port` */
  readonly address: string
  /** The names and types of the questions: `example.org MX`. */
  readonly questions: readonly string[]
  /** What happens instead of a response with records. */
  failure: 'silence' | 'server failure' | undefined
}

const types = { 1: 'A', 15: 'MX', 28: 'AAAA' } as const
const noSuchName = 3
const serverFailure = 2

/** A name server that knows only the given domains (RFC 1035). */
export async function openDnsServer(
  t: TestContext,
  domains: Readonly<Record<string, DnsRecords>>,
): Promise<DnsServer> {
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query)
    questions.push(`${name} ${types[type]}`)
    if (server.failure === 'silence') return
    const records = domains[name]
    const answers = records === undefined ? [] : toAnswers(records, type)
    const failure = server.failure === undefined ? 0 : serverFailure
    const code = failure || (records === undefined ? noSuchName : 0)
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 + code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(code === 0 ? answers.length : 0, 6)
    const body = code === 0 ? answers.map((data) => toRecord(type, data)) : []
    socket.send(Buffer.concat([header, query.subarray(12, end), ...body]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  const server: DnsServer = {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    failure: undefined,
  }
  return server
}

function readQuestion(query: Buffer) {
  assert.equal(query.readUInt16BE(4), 1, 'one question')
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const type = query.readUInt16BE(at + 1)
  assert.ok(type === 1 || type === 15 || type === 28, `type ${type}`)
  assert.equal(query.readUInt16BE(at + 3), 1, 'class IN')
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 } as const
}

function toAnswers({ mx = [], a = [], aaaa = [] }: DnsRecords, type: keyof typeof types) {
  if (type === 15) return mx.map((host) => Buffer.concat([Buffer.from([0, 10]), toName(host)]))
  if (type === 1) return a.map((address) => Buffer.from(address.split('.').map(Number)))
  return aaaa.map((address) => Buffer.from(address.replaceAll(':', ''), 'hex'))
}

function toName(host: string): Buffer {
  const labels = host === '' ? [] : host.split('.')
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ])
}

/** The name is a reference to the question. */
function toRecord(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(0, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
