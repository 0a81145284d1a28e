import type { ResponseField } from '../hpack/response-encoder.ts'

/** Sent with a refusal, so that a client knows which compression it may use. */
export const ACCEPTED_ENCODINGS: readonly ResponseField[] = [
  ['grpc-accept-encoding', 'identity,gzip'],
]
