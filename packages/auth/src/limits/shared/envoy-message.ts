/*
 * The part of `envoy.service.ratelimit.v3` that is needed here, in the protobuf wire format: a tag
 * byte with field number and wire type, followed by a number, or by a length and that many bytes.
 */

export interface Descriptor {
  readonly entries: readonly (readonly [key: string, value: string])[]
  /** Overrides the rules of the service. */
  readonly limit: { readonly requestsPerUnit: number; readonly unit: number } | undefined
}

/** Encodes a `RateLimitRequest`. */
export function encodeRequest(domain: string, { entries, limit }: Descriptor): Buffer {
  const parts = entries.map(([key, value]) => toField(1, [toText(1, key), toText(2, value)]))
  if (limit) {
    parts.push(toField(2, [toNumber(1, limit.requestsPerUnit), toNumber(2, limit.unit)]))
  }
  return Buffer.concat([toText(1, domain), toField(2, parts)])
}

export interface Decision {
  readonly isOver: boolean
  /** Whether a limit was applied: a service without the domain or a rule allows everything. */
  readonly hasLimit: boolean
  /** Seconds until further requests are allowed, if the service reports it. */
  readonly resetSeconds: number | undefined
}

const overLimit = 2

/** Decodes the `RateLimitResponse` to a request with one descriptor. */
export function decodeResponse(message: Buffer): Decision {
  const response = readFields(message)
  const status = readFields(toBytes(response.get(2)))
  const duration = readFields(toBytes(status.get(4)))
  const seconds = duration.get(1)
  return {
    isOver: response.get(1) === overLimit,
    hasLimit: status.has(2),
    resetSeconds: typeof seconds === 'number' ? seconds : undefined,
  }
}

const [varint, bytes] = [0, 2] as const
const fixedLengths: ReadonlyMap<number, number> = new Map([
  [1, 8],
  [5, 4],
])

function toField(number: number, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([(number << 3) | bytes]), toVarint(content.length), content])
}

function toText(number: number, text: string): Buffer {
  return toField(number, [Buffer.from(text)])
}

function toNumber(number: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | varint]), toVarint(value)])
}

function toVarint(value: number): Buffer {
  const digits: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) digits.push((rest % 0x80) | 0x80)
  return Buffer.from([...digits, rest])
}

/** The last value of each field number is used. */
function readFields(message: Buffer): ReadonlyMap<number, number | Buffer> {
  const fields = new Map<number, number | Buffer>()
  let at = 0
  const readVarint = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const byte = message[at++]
      if (byte === undefined) throw new Error('the response of the service is truncated')
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = readVarint()
    const kind = tag & 7
    if (kind === varint) {
      fields.set(tag >>> 3, readVarint())
      continue
    }
    const length = kind === bytes ? readVarint() : fixedLengths.get(kind)
    if (length === undefined || at + length > message.length) {
      throw new Error('the response of the service is malformed')
    }
    fields.set(tag >>> 3, message.subarray(at, at + length))
    at += length
  }
  return fields
}

function toBytes(value: number | Buffer | undefined): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}
