import { hideAll, string } from '@portcullis/service-kit/env'
import { defineGateway, isFinalStatus, isSuccess } from './gateway.ts'

/** A gateway of the operator's own: AUTH_SMS_WEBHOOK_URL. */
export const webhook = defineGateway({
  // Whoever is behind the URL is told the channel, and may know more than one.
  channels: ['sms', 'whatsapp'],
  variables: {
    url: string(
      'AUTH_SMS_WEBHOOK_URL',
      '',
      'Where messages are posted to as JSON, for a gateway of your own',
    ),
    secret: string('AUTH_SMS_WEBHOOK_SECRET', '', 'The bearer token of these requests', {
      mask: hideAll,
    }),
  },
  required: { url: 'missing webhook URL' },
  webUrls: ['url'],
  // There is no address but the one that is set.
  baseUrl: '',

  toRequest({ to, text, code, channel }, { url, secret }) {
    return {
      url,
      ...(secret !== '' && { headers: { authorization: `Bearer ${secret}` } }),
      body: { json: { to: `+${to}`, message: text, code, channel } },
    }
  },

  findRefusal({ status }) {
    if (isSuccess(status)) return undefined
    return { reason: `the webhook answered ${status}`, isFinal: isFinalStatus(status) }
  },
})
