import { hideAll, string } from '@portcullis/service-kit/settings/env'
import { defineGateway, isFinalStatus, isSuccess, readList, readText } from './gateway.ts'

/**
 * Codes for temporary failures: throttled, wrong key, internal error, no balance, too many
 * connections.
 */
const temporaryErrors = ['1', '4', '5', '9', '10']

/** https://developer.vonage.com/en/api/sms */
export const vonage = defineGateway({
  channels: ['sms'],
  variables: {
    apiKey: string('AUTH_SMS_VONAGE_API_KEY', '', 'Vonage API key', { mask: hideAll }),
    apiSecret: string('AUTH_SMS_VONAGE_API_SECRET', '', 'Vonage API secret', { mask: hideAll }),
    from: string('AUTH_SMS_VONAGE_FROM', '', 'Sender of Vonage messages'),
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

  /** Vonage splits a long text into several messages, and all of them must be accepted. */
  findRefusal({ status, body }) {
    const messages = readList(body, 'messages')
    const refused = messages.find((message) => readText(message, 'status') !== '0')
    if (isSuccess(status) && messages.length > 0 && refused === undefined) return undefined
    const code = readText(refused, 'status')
    const what = readText(refused, 'error-text') ?? `the response status was ${status}`
    return {
      reason: `vonage error: ${what} (status: ${code ?? 'none'})`,
      isFinal: isSuccess(status)
        ? code !== undefined && !temporaryErrors.includes(code)
        : isFinalStatus(status),
    }
  },
})

function isAscii(text: string): boolean {
  return [...text].every((character) => character <= '\u007f')
}
