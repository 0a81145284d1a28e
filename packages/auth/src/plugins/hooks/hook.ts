import { randomUUID } from 'node:crypto'
import type { Log } from '@portcullis/service-kit/log'
import { ApiError } from '../../errors.ts'
import { type HookCall, HookRejection } from './hooks.ts'

/** One hook: what it is called, and how its answer is to be read. Who is asked is the transport's. */
export interface HookDefinition<Input extends object, Output> {
  /** `metadata.name` */
  readonly name: string
  /** @throws {ApiError} where it is no answer to that. */
  parseAnswer(answer: JsonObject, input: Input): Output
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
