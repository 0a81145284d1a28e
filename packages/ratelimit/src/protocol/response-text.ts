import { fromBinary } from '@bufbuild/protobuf'
import { toText } from '@bufbuild/protobuf/txtpb'
import { RateLimitResponseSchema } from './generated/envoy/service/ratelimit/v3/rls_pb.ts'

/** An encoded `RateLimitResponse` in protobuf's text form, on one line, with all it holds. */
export function toResponseText(encoded: Uint8Array): string {
  return toOneLine(toText(RateLimitResponseSchema, fromBinary(RateLimitResponseSchema, encoded)))
}

/** Texts cannot be cut apart by this: what breaks a line is escaped in them. */
function toOneLine(text: string): string {
  let line = ''
  for (const indented of text.split('\n')) {
    const field = indented.trimStart()
    const isInner = line === '' || line.endsWith('{') || field === '}' || field === ''
    line += (isInner ? '' : ' ') + field.replace(': ', ':')
  }
  return line
}
