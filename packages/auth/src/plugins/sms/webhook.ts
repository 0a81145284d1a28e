import { hideAll, hideCredentials, string } from '@portcullis/service-kit/settings/env'
import { defineGateway, isFinalStatus, isSuccess } from './gateway.ts'

/** The operator's own gateway, at AUTH_SMS_WEBHOOK_URL. */
export const webhook = defineGateway({
  // The request names the channel, so the operator's gateway may support several.
  channels: ['sms', 'whatsapp'],
  variables: {
    url: string(
      'AUTH_SMS_WEBHOOK_URL',
      '',
      'URL to which messages are posted as JSON, for your own gateway',
      { mask: hideCredentials },
    ),
    secret: string('AUTH_SMS_WEBHOOK_SECRET', '', 'Bearer token sent with these requests', {
      mask: hideAll,
    }),
  },
  required: { url: 'missing webhook URL' },
  webUrls: ['url'],
  // Requests go to the configured URL.
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
    return { reason: `the webhook responded with ${status}`, isFinal: isFinalStatus(status) }
  },
})
