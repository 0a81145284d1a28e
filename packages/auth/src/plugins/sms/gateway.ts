import type { Settings, Variable } from '@portcullis/service-kit/settings/env'
import type { OutgoingPost, PostResponse } from '../../outgoing/http-client.ts'

/** How a text message is sent; a gateway may support several channels. */
export type TextChannel = 'sms' | 'whatsapp'

export interface TextMessage {
  /** The phone number's digits, without + (E.164). */
  readonly to: string
  readonly text: string
  /** Also in the text. Some gateways insert it into their own template. */
  readonly code: string
  readonly channel: TextChannel
}

/** The gateway refused a message. */
export interface Refusal {
  readonly reason: string
  /** Whether a retry would fail too: true for an invalid number, false for a busy gateway. */
  readonly isFinal: boolean
}

export type GatewayVariables = Readonly<Record<string, Variable<string>>>

/** A service that sends text messages: its settings, its requests, and how its responses are read. */
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
  /** The base URL of its API. */
  readonly baseUrl: string
  toRequest(message: TextMessage, settings: Settings<V>, baseUrl: string): OutgoingPost
  /** Undefined when the gateway accepted the message. */
  findRefusal(response: PostResponse): Refusal | undefined
  /** Set if the gateway creates the codes and checks them. */
  readonly codes?: CheckedCodes<V>
}

/** How a gateway checks a code that it created. */
export interface CheckedCodes<V extends GatewayVariables> {
  readonly lifetimeSeconds: number
  toCheck(
    guess: Pick<TextMessage, 'to' | 'code'>,
    settings: Settings<V>,
    baseUrl: string,
  ): OutgoingPost
  /** Whether the code is right, or why this is not known. */
  readVerdict(response: PostResponse): boolean | Refusal
}

/** Infers the type of the settings that `toRequest` receives from `variables`. */
export function defineGateway<V extends GatewayVariables>(gateway: Gateway<V>): Gateway {
  return gateway
}

/**
 * Whether a status concerns the message itself. An operator can fix a problem with the account
 * (401, 403) while the code is still valid.
 */
export function isFinalStatus(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status)
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** Reads a string or number from JSON of any shape: `readText(body, 'errors', 0, 'code')`. */
export function readText(json: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = path.reduce(readField, json)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined
}

/** Reads an array from JSON of any shape; empty when there is none. */
export function readList(json: unknown, name: string): readonly unknown[] {
  const found = readField(json, name)
  return Array.isArray(found) ? found : []
}

function readField(json: unknown, name: string | number): unknown {
  if (typeof json !== 'object' || json === null) return undefined
  return Object.entries(json).find(([key]) => key === String(name))?.[1]
}
