import { fromBinary } from '@bufbuild/protobuf'
import { toText } from '@bufbuild/protobuf/txtpb'
import { RateLimitResponseSchema } from './generated/envoy/service/ratelimit/v3/rls_pb.ts'

/**
 * Formats an encoded `RateLimitResponse` in protobuf's text format, on one line, including unknown fields.
 */
export function toResponseText(encoded: Uint8Array): string {
  return toOneLine(toText(RateLimitResponseSchema, fromBinary(RateLimitResponseSchema, encoded)))
}

/** Strings stay intact, because line breaks in them are escaped. */
function toOneLine(text: string): string {
  let line = ''
  for (const indented of text.split('\n')) {
    const field = indented.trimStart()
    const isInner = line === '' || line.endsWith('{') || field === '}' || field === ''
    line += (isInner ? '' : ' ') + field.replace(': ', ':')
  }
  return line
}
