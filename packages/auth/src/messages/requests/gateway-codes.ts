import { ApiError } from '../../errors.ts'
import { OutgoingError, post } from '../../outgoing/http-client.ts'
import type { Gateway } from '../../plugins/sms/gateway.ts'
import { gateways } from '../../plugins/sms/index.ts'
import type { SmsGateway } from '../../plugins/sms/settings.ts'

/** Codes that the SMS gateway creates and checks itself; this server does not know them. */
export interface GatewayCodes {
  readonly lifetimeSeconds: number
  /** Whether the gateway sent this code to the phone number. @throws {ApiError} */
  isRight(phone: string, code: string): Promise<boolean>
}

export interface GatewayCodesSettings {
  readonly gateway: SmsGateway
  /** Short, because a client waits for the response. */
  readonly timeoutMs: number
  /** Overrides the URL of the gateway, for tests. */
  readonly baseUrl?: string | undefined
}

const codeFormat = /^\d{4,10}$/

/** Returns undefined if this server creates the codes. */
export function createGatewayCodes(settings: GatewayCodesSettings): GatewayCodes | undefined {
  const { gateway: configured, timeoutMs } = settings
  if (!configured.isReady) return undefined
  const gateway: Gateway = gateways[configured.name]
  const { codes } = gateway
  if (codes === undefined) return undefined
  const { baseUrl = gateway.baseUrl } = settings
  return {
    lifetimeSeconds: codes.lifetimeSeconds,
    async isRight(phone, code) {
      if (!codeFormat.test(code)) return false
      const request = codes.toCheck({ to: phone, code }, configured.settings, baseUrl)
      try {
        const verdict = codes.readVerdict(await post(request, { timeoutMs, maxBytes: 65_536 }))
        if (typeof verdict === 'boolean') return verdict
        throw new OutgoingError(verdict.reason)
      } catch (cause) {
        if (!(cause instanceof OutgoingError)) throw cause
        throw new ApiError('unexpected_failure', 'Unable to check the code', { cause })
      }
    },
  }
}
