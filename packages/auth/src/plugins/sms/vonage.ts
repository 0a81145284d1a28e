import { hideAll, string } from '@portcullis/service-kit/env'
import { defineGateway, isFinalStatus, isSuccess, readList, readText } from './gateway.ts'

/** Throttled, wrong key, a fault of their own, no balance, too many connections. */
const passing = ['1', '4', '5', '9', '10']

/** https://developer.vonage.com/en/api/sms */
export const vonage = defineGateway({
  channels: ['sms'],
  variables: {
    apiKey: string('AUTH_SMS_VONAGE_API_KEY', '', 'Key of Vonage', { mask: hideAll }),
    apiSecret: string('AUTH_SMS_VONAGE_API_SECRET', '', 'Secret of Vonage', { mask: hideAll }),
    from: string('AUTH_SMS_VONAGE_FROM', '', 'Sender of messages by Vonage'),
  },
  required: {
    apiKey: 'missing Vonage API key',
    apiSecret: 'missing Vonage API secret',
    from: "missing Vonage 'from' parameter",
  },
  baseUrl: 'https://rest.nexmo.com',

  toRequest({ to, text }, { from, apiKey, apiSecret }, baseUrl) {
    return {
      url: `${baseUrl}/sms/json`,
      body: {
        form: {
          from,
          to,
          text,
          api_key: apiKey,
          api_secret: apiSecret,
          ...(isAscii(text) ? {} : { type: 'unicode' }),
        },
      },
    }
  },

  /** A long text becomes several messages, and all of them have to go out. */
  findRefusal({ status, body }) {
    const messages = readList(body, 'messages')
    const refused = messages.find((message) => readText(message, 'status') !== '0')
    if (isSuccess(status) && messages.length > 0 && refused === undefined) return undefined
    const code = readText(refused, 'status')
    const what = readText(refused, 'error-text') ?? `the answer was ${status}`
    return {
      reason: `vonage error: ${what} (status: ${code ?? 'none'})`,
      isFinal: isSuccess(status)
        ? code !== undefined && !passing.includes(code)
        : isFinalStatus(status),
    }
  },
})

function isAscii(text: string): boolean {
  return [...text].every((character) => character <= '\u007f')
}
