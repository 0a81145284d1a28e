import type { ResponseField } from '../hpack/response-encoder.ts'

/** Sent with a refusal, so that the client learns which compressions are supported. */
export const ACCEPTED_ENCODINGS: readonly ResponseField[] = [
  ['grpc-accept-encoding', 'identity,gzip'],
]
