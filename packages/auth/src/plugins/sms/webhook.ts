import { type Gateway, isFinalStatus, isSuccess } from './gateway.ts'

/** A gateway of the operator's own: AUTH_SMS_WEBHOOK_URL. */
export const webhook: Gateway = {
  // There is no address but the one that is set.
  baseUrl: '',

  toRequest({ to, text, code, channel }, { webhookUrl, webhookSecret }) {
    return {
      url: webhookUrl,
      ...(webhookSecret !== '' && { headers: { authorization: `Bearer ${webhookSecret}` } }),
      body: { json: { to: `+${to}`, message: text, code, channel } },
    }
  },

  findRefusal({ status }) {
    if (isSuccess(status)) return undefined
    return { reason: `the webhook answered ${status}`, isFinal: isFinalStatus(status) }
  },
}
