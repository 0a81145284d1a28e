import type { Config } from '../../config/config.ts'
import { type HttpLimits, post } from '../../outgoing/http-client.ts'
import type { Gateway, TextChannel } from '../../plugins/sms/gateway.ts'
import { gateways } from '../../plugins/sms/index.ts'
import { parseTextTemplate } from '../../template/index.ts'
import { UndeliverableError } from './failures.ts'
import type { Deliver } from './outbox-sender.ts'

export interface SmsChannelSettings {
  readonly config: Pick<Config, 'sms' | 'mfa'>
  /** Overrides the URL of the gateway, for tests. */
  readonly baseUrl?: string
  readonly limits?: HttpLimits
}

const postLimits: HttpLimits = { timeoutMs: 10_000, maxBytes: 65_536 }

/** The kind of message of a phone factor, which has its own template. */
const factorKind = 'mfa_code'

/** Sends rows of the outbox as text messages. */
export function createSmsChannel(settings: SmsChannelSettings): Deliver {
  const { config, limits = postLimits } = settings
  const { sms, mfa } = config
  // The configuration check has rejected invalid templates.
  const template = parseTextTemplate(sms.template)
  const factorTemplate = parseTextTemplate(mfa.kinds.phone.template)
  return async ({ kind, recipient, payload }, signal) => {
    // Possible if the configuration has changed since the message was stored.
    if (!sms.gateway.isReady) throw new UndeliverableError(sms.gateway.problem)
    const gateway: Gateway = gateways[sms.gateway.name]
    const { baseUrl = gateway.baseUrl } = settings
    const { Code: code, Channel: channel } = payload
    if (typeof code !== 'string') throw new UndeliverableError('the message contains no code')
    const text = (kind === factorKind ? factorTemplate : template).render({ Code: code })
    const message = { to: recipient, text, code, channel: toTextChannel(channel) }
    const request = gateway.toRequest(message, sms.gateway.settings, baseUrl)
    const refusal = gateway.findRefusal(await post(request, limits, signal))
    if (refusal === undefined) return
    throw refusal.isFinal ? new UndeliverableError(refusal.reason) : new Error(refusal.reason)
  }
}

function toTextChannel(channel: unknown): TextChannel {
  return channel === 'whatsapp' ? 'whatsapp' : 'sms'
}
