import type { ResponseField } from '../hpack/response-encoder.ts'

/** Sent with a refusal to tell the client which compressions are supported. */
export const ACCEPTED_ENCODINGS: readonly ResponseField[] = [
  ['grpc-accept-encoding', 'identity,gzip'],
]
