import type { Config } from '../../config/config.ts'
import { type HttpLimits, post } from '../../outgoing/http-client.ts'
import type { Gateway, TextChannel } from '../../plugins/sms/gateway.ts'
import { gateways } from '../../plugins/sms/index.ts'
import { parseTextTemplate } from '../../template/index.ts'
import { UndeliverableError } from './failures.ts'
import type { Deliver } from './outbox-sender.ts'

export interface SmsChannelSettings {
  readonly config: Pick<Config, 'sms' | 'mfa'>
  /** In place of the gateway's own, for tests. */
  readonly baseUrl?: string
  readonly limits?: HttpLimits
}

/** Reference 12.1. */
const postLimits: HttpLimits = { timeoutMs: 10_000, maxBytes: 65_536 }

/** The kind of message that a phone factor asks for; it has a template of its own. */
const factorKind = 'mfa_code'

/** Rows of the outbox become text messages. */
export function createSmsChannel(settings: SmsChannelSettings): Deliver {
  const { config, limits = postLimits } = settings
  const { sms, mfa } = config
  // The configuration has refused what is no template.
  const template = parseTextTemplate(sms.template)
  const factorTemplate = parseTextTemplate(mfa.kinds.phone.template)
  return async ({ kind, recipient, payload }, signal) => {
    // Somebody has changed the configuration since it was written.
    if (!sms.gateway.isReady) throw new UndeliverableError(sms.gateway.problem)
    const gateway: Gateway = gateways[sms.gateway.name]
    const { baseUrl = gateway.baseUrl } = settings
    const { Code: code, Channel: channel } = payload
    if (typeof code !== 'string') throw new UndeliverableError('there is no code in it')
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
