import type { ResponseField } from '../hpack/response-encoder.ts'

/** Sent with a refusal, so that a client which compressed knows what it may use. */
export const IDENTITY_ONLY: readonly ResponseField[] = [['grpc-accept-encoding', 'identity']]
