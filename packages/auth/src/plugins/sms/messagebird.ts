import { hideAll, string } from '@portcullis/service-kit/settings/env'
import { defineGateway, isFinalStatus, isSuccess, readText } from './gateway.ts'

/** Error codes for temporary failures, not caused by the message: no balance, internal error. */
const temporaryErrors = ['25', '99']

/** https://developers.messagebird.com/api/sms-messaging */
export const messagebird = defineGateway({
  otherNames: ['gatewayb'],
  channels: ['sms'],
  variables: {
    accessKey: string('AUTH_SMS_GATEWAYB_ACCESS_KEY', '', 'MessageBird access key', {
      aliases: ['AUTH_SMS_MESSAGEBIRD_ACCESS_KEY', 'GOTRUE_SMS_MESSAGEBIRD_ACCESS_KEY'],
      mask: hideAll,
    }),
    originator: string(
      'AUTH_SMS_GATEWAYB_ORIGINATOR',
      '',
      'Sender of MessageBird messages: a phone number with +, or a name',
      { aliases: ['AUTH_SMS_MESSAGEBIRD_ORIGINATOR', 'GOTRUE_SMS_MESSAGEBIRD_ORIGINATOR'] },
    ),
  },
  required: {
    accessKey: 'missing Messagebird access key',
    originator: 'missing Messagebird originator',
  },
  baseUrl: 'https://rest.messagebird.com',

  toRequest({ to, text }, { accessKey, originator }, baseUrl) {
    return {
      url: `${baseUrl}/messages`,
      headers: { authorization: `AccessKey ${accessKey}` },
      body: {
        form: {
          originator,
          body: text,
          recipients: to,
          type: 'sms',
          datacoding: 'unicode',
        },
      },
    }
  },

  findRefusal({ status, body }) {
    const code = readText(body, 'errors', 0, 'code')
    if (code !== undefined || !isSuccess(status)) {
      const what = readText(body, 'errors', 0, 'description') ?? `the response status was ${status}`
      const parameter = readText(body, 'errors', 0, 'parameter') ?? ''
      return {
        reason: `messagebird error: ${what} (code: ${code ?? 'none'}) parameter: ${parameter}`,
        isFinal: isFinalStatus(status) && !temporaryErrors.includes(code ?? ''),
      }
    }
    if (Number(readText(body, 'recipients', 'totalSentCount') ?? 0) >= 1) return undefined
    return { reason: 'messagebird error: total sent count: 0', isFinal: true }
  },
})
