import { randomUUID } from 'node:crypto'
import type { Log } from '@portcullis/service-kit/log'
import { ApiError } from '../../errors.ts'

/**
 * One hook: its settings, what it is called, and how its answer is to be read. Who is asked is the
 * transport's.
 */
export interface HookDefinition<Input extends object, Output> {
  /** Part of its variables: AUTH_HOOK_<variable>_ENABLED. */
  readonly variable: string
  /** What a hook does, for the manual: "Whether a hook …". */
  readonly purpose: string
  /** `metadata.name` */
  readonly name: string
  /** @throws {ApiError} where it is no answer to that. */
  parseAnswer(answer: JsonObject, input: Input): Output
}

type HookSettings = Pick<HookDefinition<object, unknown>, 'variable' | 'purpose' | 'name'>

/** A hook that is told something. Nothing of its answer is used, but whether it is a rejection. */
export function defineNotice<Input extends object>(
  settings: HookSettings,
): HookDefinition<Input, void> {
  return { ...settings, parseAnswer: () => undefined }
}

/** A hook that decides whether something continues. */
export function defineDecision<Input extends object>(
  settings: HookSettings,
): HookDefinition<Input, Verdict> {
  return { ...settings, parseAnswer: parseVerdict }
}

export interface Verdict {
  readonly isRejected: boolean
  /** What the caller is told; empty: our own words. */
  readonly message: string
  readonly logsUserOut: boolean
}

/** `{"decision": "reject", "message": "…"}`; who says nothing has nothing against it. */
function parseVerdict(answer: JsonObject): Verdict {
  const { decision = 'continue', message, should_logout_user: logout } = answer
  if (decision !== 'continue' && decision !== 'reject') {
    throw badAnswer('Hook must decide continue or reject')
  }
  return {
    isRejected: decision === 'reject',
    message: typeof message === 'string' ? message : '',
    logsUserOut: logout === true,
  }
}

/** The hook said no, in its own words: to ask again would not help. */
export class HookRejection extends ApiError {}

/** @throws {ApiError} when nobody answers, or no is the answer. */
export type HookCall<Input extends object, Output> = (
  input: Input,
  occasion: Occasion,
) => Promise<Output>

export interface Occasion {
  /** Of who made the request; empty where nobody knows. */
  readonly ip: string
  /** The same for the same thing told twice; a new one where nothing is said. */
  readonly id?: string
  /** Fires when nobody waits for the answer any more. */
  readonly signal?: AbortSignal
}

export type JsonObject = Readonly<Record<string, unknown>>

/** Takes a question to the hook. Undefined: it has nothing to say. @throws {ApiError} */
export type Transport = (question: object, id: string, stopped?: AbortSignal) => Promise<unknown>

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
      if (!isObject(answer)) throw badAnswer('Hook must answer with a JSON object')
      const rejection = findRejection(answer)
      if (rejection !== undefined) throw rejection
      return definition.parseAnswer(answer, input)
    } catch (error) {
      // The caller is not told which hook it was; who runs it wants to know.
      if (!(error instanceof HookRejection)) log.warning(`The hook ${name}: ${toReason(error)}`)
      throw error
    }
  }
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  if (cause === undefined) return message || ('code' in error ? `${error.code}` : error.name)
  return `${message} (${toReason(cause)})`
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function badAnswer(message: string, cause?: unknown): ApiError {
  return new ApiError('unexpected_failure', message, { cause })
}

/** `{"error": {"http_code": 403, "message": "…"}}` */
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
