import { hideAll, string } from '@portcullis/service-kit/settings/env'
import { defineGateway, isFinalStatus, isSuccess, readText } from './gateway.ts'

/** Error codes for temporary failures, not caused by the message: wrong key, no credits. */
const temporaryErrors = ['3', '7']
const templateNotApproved = '80'

/** https://api.textlocal.in/docs/sendsms */
export const textlocal = defineGateway({
  channels: ['sms'],
  variables: {
    apiKey: string('AUTH_SMS_TEXTLOCAL_API_KEY', '', 'Textlocal API key', { mask: hideAll }),
    sender: string('AUTH_SMS_TEXTLOCAL_SENDER', '', 'Sender of Textlocal messages'),
  },
  required: { apiKey: 'missing Textlocal API key', sender: 'missing Textlocal sender' },
  baseUrl: 'https://api.textlocal.in',

  toRequest({ to, text }, { apiKey, sender }, baseUrl) {
    return {
      url: `${baseUrl}/send`,
      body: {
        form: { sender, apikey: apiKey, message: text, numbers: to },
      },
    }
  },

  /** The status is 200 whether or not the message was accepted. */
  findRefusal({ status, body }) {
    if (readText(body, 'status') === 'success') return undefined
    const code = readText(body, 'errors', 0, 'code')
    const what = readText(body, 'errors', 0, 'message') ?? `the response status was ${status}`
    const advice =
      code === templateNotApproved
        ? '. The text of AUTH_SMS_TEMPLATE must be a template that Textlocal has approved'
        : ''
    return {
      reason: `textlocal error: ${what} (code: ${code ?? 'none'})${advice}`,
      isFinal: isSuccess(status)
        ? code !== undefined && !temporaryErrors.includes(code)
        : isFinalStatus(status),
    }
  },
})
