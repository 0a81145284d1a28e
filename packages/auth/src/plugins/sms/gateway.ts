import type { Settings, Variable } from '@portcullis/service-kit/env'
import type { OutgoingPost, PostAnswer } from '../../outgoing/http-client.ts'

/** Ways for a text message; a gateway may know several. */
export type TextChannel = 'sms' | 'whatsapp'

export interface TextMessage {
  /** The digits of a number, without + (E.164). */
  readonly to: string
  readonly text: string
  /** It is in the text as well; some gateways have a template of their own for it. */
  readonly code: string
  readonly channel: TextChannel
}

/** A message that the gateway does not take. */
export interface Refusal {
  readonly reason: string
  /** Whether it would be refused again: an invalid number, but not a gateway that is busy. */
  readonly isFinal: boolean
}

export type GatewayVariables = Readonly<Record<string, Variable<string>>>

/** One service that sends text messages: its settings, its requests, and how it answers. */
export interface Gateway<V extends GatewayVariables = GatewayVariables> {
  /** Values of AUTH_SMS_PROVIDER that mean this gateway, besides its name in `index.ts`. */
  readonly otherNames?: readonly string[]
  readonly channels: readonly TextChannel[]
  /** Environment variables; each also gets its GOTRUE_ name. */
  readonly variables: V
  /** Settings without which nothing can be sent, and the error message when one is empty. */
  readonly required: Readonly<Partial<Record<keyof V & string, string>>>
  /** Settings that must be http or https URLs. */
  readonly webUrls?: readonly (keyof V & string)[]
  /** Where its API is. */
  readonly baseUrl: string
  toRequest(message: TextMessage, settings: Settings<V>, baseUrl: string): OutgoingPost
  /** Undefined: it has taken the message. */
  findRefusal(answer: PostAnswer): Refusal | undefined
}

/** Infers the settings that `toRequest` gets from `variables`. */
export function defineGateway<V extends GatewayVariables>(gateway: Gateway<V>): Gateway {
  return gateway
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
