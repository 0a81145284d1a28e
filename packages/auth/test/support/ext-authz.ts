import { type GrpcClient, openGrpcClient } from '@portcullis/grpc-unary/client'
import { findBytes, findNumber, readFields, toField, toText } from '../../src/wire-format.ts'

/** The response of `ext_authz`, as far as the tests need it. */
export interface Decision {
  /** The status of the response to the client; 200 if the request is allowed. */
  readonly status: number
  /** The headers that are set: of the request if it is allowed, otherwise of the response. */
  readonly headers: Readonly<Record<string, string>>
  /** The headers of the request that are removed. */
  readonly removed: readonly string[]
  readonly body: string
}

interface CheckedRequest {
  readonly token?: string
  /** The address of the client as Envoy knows it. */
  readonly ip?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks about a request as Envoy does. */
export async function checkRequest(
  client: GrpcClient,
  { token, ip, headers = {} }: CheckedRequest,
): Promise<Decision> {
  const all = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const entries = Object.entries(all).map(([name, value]) =>
    toField(3, [toText(1, name), toText(2, value)]),
  )
  const source = ip === undefined ? [] : [toField(1, [toField(1, [toField(1, [toText(2, ip)])])])]
  const request = toField(1, [...source, toField(4, [toField(2, entries)])])
  const { response, code, message } = await client.call(
    '/envoy.service.auth.v3.Authorization/Check',
    request,
  )
  if (response === undefined) throw new Error(`The check failed: ${code} ${message}`)
  return decode(response)
}

function decode(response: Buffer): Decision {
  const fields = readFields(response)
  const denied = readFields(findBytes(fields, 2))
  const isAllowed = !fields.has(2)
  const shown = isAllowed ? readFields(findBytes(fields, 3)) : denied
  const headers = (shown.get(2) ?? []).map((option) => {
    const header = readFields(findBytes(readFields(toBuffer(option)), 1))
    return [findBytes(header, 1).toString(), findBytes(header, 2).toString()]
  })
  return {
    status: isAllowed ? 200 : (findNumber(readFields(findBytes(denied, 1)), 1) ?? 0),
    headers: Object.fromEntries(headers),
    removed: isAllowed ? (shown.get(5) ?? []).map((name) => name.toString()) : [],
    body: findBytes(denied, 3).toString(),
  }
}

function toBuffer(value: number | Buffer): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}

export function openCheckClient(port: number | undefined): Promise<GrpcClient> {
  return openGrpcClient({ address: `127.0.0.1:${port}` })
}
