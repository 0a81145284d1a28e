/* The parts of `envoy.service.auth.v3` and `grpc.health.v1` that are needed here. */

import { parseAddress } from '../http/stages/client-address.ts'
import { findBytes, readFields, toField, toNumber, toText } from '../wire-format.ts'

/** The headers of a request that Envoy asks about, by their names in lower case. Repeated ones are joined by commas. */
export type RequestHeaders = ReadonlyMap<string, string>

export interface CheckedRequest {
  readonly headers: RequestHeaders
  /** The address of the client as Envoy knows it. Undefined if the client is not connected by IP. */
  readonly clientIp: string | undefined
}

/** Decodes a `CheckRequest`. @throws {WireError} */
export function decodeCheckRequest(message: Buffer): CheckedRequest {
  const attributes = readFields(findBytes(readFields(message), 1))
  const source = readFields(findBytes(attributes, 1))
  const socketAddress = readFields(findBytes(readFields(findBytes(source, 1)), 1))
  const clientIp = parseAddress(findBytes(socketAddress, 2).toString())
  const request = readFields(findBytes(attributes, 4))
  const http = readFields(findBytes(request, 2))
  const headers = new Map<string, string>()
  const add = (name: string, value: string) => {
    const known = headers.get(name)
    headers.set(name, known === undefined ? value : `${known},${value}`)
  }
  // The map `headers`.
  for (const entry of http.get(3) ?? []) {
    const fields = readFields(toBuffer(entry))
    add(findBytes(fields, 1).toString().toLowerCase(), findBytes(fields, 2).toString())
  }
  // With `encode_raw_headers`, Envoy sends `header_map` instead.
  for (const entry of readFields(findBytes(http, 13)).get(1) ?? []) {
    const fields = readFields(toBuffer(entry))
    const value = fields.has(3) ? findBytes(fields, 3) : findBytes(fields, 2)
    add(findBytes(fields, 1).toString().toLowerCase(), value.toString())
  }
  return { headers, clientIp }
}

function toBuffer(value: number | Buffer): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}

type Headers = Readonly<Record<string, string>>

/** Encodes a `CheckResponse` that allows the request. */
export function encodeAllowed(response: {
  /** Replace headers of the request. */
  readonly headers: Headers
  readonly removed: readonly string[]
  /** For later filters. Empty values are left out, so that rate limits can test for them. */
  readonly metadata: Headers
}): Buffer {
  const { headers, removed, metadata } = response
  const ok = [...toHeaders(headers), ...removed.map((name) => toText(5, name))]
  const values = Object.entries(metadata)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => toField(1, [toText(1, name), toField(2, [toText(3, value)])]))
  return Buffer.concat([toField(1, []), toField(3, ok), toField(4, values)])
}

/** Encodes a `CheckResponse` with the response to the client. */
export function encodeDenied(response: {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}): Buffer {
  const { status, headers, body } = response
  return Buffer.concat([
    // UNAUTHENTICATED; Envoy only distinguishes OK from all others.
    toField(1, [toNumber(1, 16)]),
    toField(2, [toField(1, [toNumber(1, status)]), ...toHeaders(headers), toText(3, body)]),
  ])
}

/** `append: false` replaces all values of a header; an empty value replaces them too. */
function toHeaders(headers: Headers): readonly Buffer[] {
  return Object.entries(headers).map(([name, value]) =>
    toField(2, [toField(1, [toText(1, name), toText(2, value)]), toField(2, []), toNumber(4, 1)]),
  )
}

/** Decodes a `HealthCheckRequest`: the name of the service. @throws {WireError} */
export function decodeHealthRequest(message: Buffer): string {
  return findBytes(readFields(message), 1).toString()
}

/** The values of `HealthCheckResponse.ServingStatus`. */
export const servingStatus = { serving: 1, notServing: 2, unknownService: 3 } as const

export type ServingStatus = (typeof servingStatus)[keyof typeof servingStatus]

/** Encodes a `HealthCheckResponse`. */
export function encodeHealth(value: ServingStatus): Buffer {
  return toNumber(1, value)
}
