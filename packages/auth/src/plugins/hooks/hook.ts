import { randomUUID } from 'node:crypto'
import type { Log } from '@portcullis/service-kit/log/log'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { ApiError } from '../../errors.ts'

/**
 * One hook: its settings, its name, and how its answer is parsed. The transport decides how it is
 * called.
 */
export interface HookDefinition<Input extends object, Output> {
  /** Part of the names of its environment variables: AUTH_HOOK_<variable>_ENABLED. */
  readonly variable: string
  /** Completes "Whether a hook …" in the documentation. */
  readonly purpose: string
  /** Sent as `metadata.name`. */
  readonly name: string
  /** @throws {ApiError} when the answer is invalid. */
  parseAnswer(answer: JsonObject, input: Input): Output
}

type HookSettings = Pick<HookDefinition<object, unknown>, 'variable' | 'purpose' | 'name'>

/** A hook that is notified. Its answer is ignored unless it is a rejection. */
export function defineNotice<Input extends object>(
  settings: HookSettings,
): HookDefinition<Input, void> {
  return { ...settings, parseAnswer: () => undefined }
}

/** A hook that decides whether an operation continues. */
export function defineDecision<Input extends object>(
  settings: HookSettings,
): HookDefinition<Input, Verdict> {
  return { ...settings, parseAnswer: parseVerdict }
}

export interface Verdict {
  readonly isRejected: boolean
  /** The error message for the client. When empty, the default message is used. */
  readonly message: string
  readonly logsUserOut: boolean
}

/** Parses `{"decision": "reject", "message": "…"}`. An answer without a decision means `continue`. */
function parseVerdict(answer: JsonObject): Verdict {
  const { decision = 'continue', message, should_logout_user: logout } = answer
  if (decision !== 'continue' && decision !== 'reject') {
    throw toHookError('Hook must decide continue or reject')
  }
  return {
    isRejected: decision === 'reject',
    message: typeof message === 'string' ? message : '',
    logsUserOut: logout === true,
  }
}

/** The hook rejected the request with its own message, so a retry would not help. */
export class HookRejection extends ApiError {}

/** @throws {ApiError} when the hook fails or rejects. */
export type HookCall<Input extends object, Output> = (
  input: Input,
  options: HookCallOptions,
) => Promise<Output>

export interface HookCallOptions {
  /** The client's IP address; empty when it is unknown. */
  readonly ip: string
  /** An idempotency key: the same for a repeated call. Default: a new UUID. */
  readonly id?: string
  /** Aborts the call. */
  readonly signal?: AbortSignal
}

export type JsonObject = Readonly<Record<string, unknown>>

/** Sends a payload to the hook. Returns undefined when the answer has no body. @throws {ApiError} */
export type Transport = (payload: object, id: string, stopped?: AbortSignal) => Promise<unknown>

export interface CallParts {
  readonly transport: Transport
  readonly now: () => number
  readonly log: Pick<Log, 'warning'>
}

export function createHookCall<Input extends object, Output>(
  definition: HookDefinition<Input, Output>,
  { transport, now, log }: CallParts,
): HookCall<Input, Output> {
  const { name } = definition
  return async (input, { ip, id = randomUUID(), signal }) => {
    const time = new Date(now()).toISOString()
    const metadata = { uuid: id, time, name, ip_address: ip }
    try {
      const answer = (await transport({ metadata, ...input }, id, signal)) ?? {}
      if (!isObject(answer)) throw toHookError('Hook must answer with a JSON object')
      const rejection = findRejection(answer)
      if (rejection !== undefined) throw rejection
      return definition.parseAnswer(answer, input)
    } catch (error) {
      // The error that the client gets does not name the hook, so the log does.
      if (!(error instanceof HookRejection)) {
        log.warning(`The hook ${name} failed: ${toReasonWithCauses(error)}`)
      }
      throw error
    }
  }
}

function toReasonWithCauses(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return toMessage(error) + (cause === undefined ? '' : ` (${toReasonWithCauses(cause)})`)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function toHookError(message: string, cause?: unknown): ApiError {
  return new ApiError('unexpected_failure', message, { cause })
}

/** Parses `{"error": {"http_code": 403, "message": "…"}}`. */
function findRejection({ error }: JsonObject): HookRejection | undefined {
  if (error === undefined || error === null) return undefined
  const { http_code: code, message } = isObject(error) ? error : { http_code: 0, message: error }
  const isStatus = typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600
  const status = isStatus ? code : 500
  const text = typeof message === 'string' && message !== '' ? message : 'Rejected by hook'
  return new HookRejection(status >= 500 ? 'unexpected_failure' : 'unknown', text, { status })
}

export function toTimeout(timeoutMs: number, cause?: unknown): ApiError {
  const seconds = (timeoutMs / 1_000).toFixed(6)
  const message = `Failed to reach hook within maximum time of ${seconds} seconds`
  return new ApiError('hook_timeout', message, { cause })
}
