import type { StoreError } from '../counters/counter-store.ts'
import type { DecodeError } from '../protocol/decode.ts'
import type { RateLimitResponse } from '../protocol/message.ts'

/** The request makes no sense, or there is nothing to judge it by. The message is for the caller. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
}

/** The request is larger than allowed. */
export class ExcessError extends ServiceError {}

/** Too much is under way already. */
export class OverloadError extends ServiceError {}

export type Decided = (
  error: ServiceError | StoreError | DecodeError | undefined,
  response: RateLimitResponse | undefined,
) => void
