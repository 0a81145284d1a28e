import type { SmsConfig } from '../../config/sms.ts'
import type { TextChannel } from '../../config/sms-gateways.ts'

export type { SmsConfig }

export interface TextMessage {
  /** The digits of a number, without + (E.164). */
  readonly to: string
  readonly text: string
  /** It is in the text as well; some gateways have a template of their own for it. */
  readonly code: string
  readonly channel: TextChannel
}

export interface GatewayRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body:
    | { readonly form: Readonly<Record<string, string>> }
    | { readonly json: Readonly<Record<string, string>> }
}

export interface GatewayAnswer {
  readonly status: number
  /** Undefined where it is no JSON. */
  readonly body: unknown
}

/** A message that the gateway does not take. */
export interface Refusal {
  readonly reason: string
  /** Whether it would be refused again: an invalid number, but not a gateway that is busy. */
  readonly isFinal: boolean
}

/** One service that sends text messages: what it is asked, and how its answer is to be read. */
export interface Gateway {
  /** Where its API is. */
  readonly baseUrl: string
  toRequest(message: TextMessage, settings: SmsConfig, baseUrl: string): GatewayRequest
  /** Undefined: it has taken the message. */
  findRefusal(answer: GatewayAnswer): Refusal | undefined
}

/**
 * Whether a status speaks of the message itself. What is wrong with our account (401, 403) an operator
 * can put right while the code is still good.
 */
export function isFinalStatus(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status)
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** A text or number inside JSON that may have any shape: `readText(body, 'errors', 0, 'code')`. */
export function readText(json: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = path.reduce(readField, json)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined
}

/** A list inside the same; empty where there is none. */
export function readList(json: unknown, name: string): readonly unknown[] {
  const found = readField(json, name)
  return Array.isArray(found) ? found : []
}

function readField(json: unknown, name: string | number): unknown {
  if (typeof json !== 'object' || json === null) return undefined
  return Object.entries(json).find(([key]) => key === String(name))?.[1]
}
