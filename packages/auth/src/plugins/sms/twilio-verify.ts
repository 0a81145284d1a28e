import { hideAll, string } from '@portcullis/service-kit/settings/env'
import { defineGateway, isFinalStatus, isSuccess, type Refusal, readText } from './gateway.ts'

interface Account {
  readonly accountSid: string
  readonly authToken: string
  readonly serviceSid: string
}

function toEndpoint({ accountSid, authToken, serviceSid }: Account, baseUrl: string, name: string) {
  const credentials = Buffer.from(`${accountSid}:${authToken}`).toString('base64')
  return {
    url: `${baseUrl}/v2/Services/${encodeURIComponent(serviceSid)}/${name}`,
    headers: { authorization: `Basic ${credentials}` },
  }
}

function toRefusal(status: number, body: unknown): Refusal {
  const code = readText(body, 'code') ?? 'no code'
  const message = readText(body, 'message') ?? `the response status was ${status}`
  return { reason: `twilio error: ${message} (${code})`, isFinal: isFinalStatus(status) }
}

function isValid(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'valid' in body && body.valid === true
}

/** Twilio has deleted the verification: it was approved, has expired or had too many wrong codes. */
const goneStatus = 404
/** Too many codes were tried; the verification stays pending until it expires. */
const tooManyChecksCode = '60202'

/**
 * Twilio writes the message, creates the code and checks it.
 * https://www.twilio.com/docs/verify/api/verification
 */
export const twilioVerify = defineGateway({
  channels: ['sms', 'whatsapp'],
  variables: {
    accountSid: string('AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID', '', 'Twilio account SID'),
    authToken: string('AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN', '', 'Twilio auth token', {
      mask: hideAll,
    }),
    serviceSid: string(
      'AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID',
      '',
      'SID of the Twilio Verify service: VA…',
    ),
  },
  required: {
    accountSid: 'missing Twilio account SID',
    authToken: 'missing Twilio auth token',
    serviceSid: 'missing Twilio Verify service SID',
  },
  baseUrl: 'https://verify.twilio.com',

  toRequest({ to, channel }, settings, baseUrl) {
    return {
      ...toEndpoint(settings, baseUrl, 'Verifications'),
      body: { form: { To: `+${to}`, Channel: channel } },
    }
  },

  findRefusal({ status, body }) {
    if (!isSuccess(status)) return toRefusal(status, body)
    if (readText(body, 'sid') !== undefined) return undefined
    return { reason: 'twilio error: the response contains no verification SID', isFinal: false }
  },

  codes: {
    lifetimeSeconds: 600,

    toCheck({ to, code }, settings, baseUrl) {
      return {
        ...toEndpoint(settings, baseUrl, 'VerificationCheck'),
        body: { form: { To: `+${to}`, Code: code } },
      }
    },

    readVerdict({ status, body }) {
      if (isSuccess(status)) return readText(body, 'status') === 'approved' && isValid(body)
      if (status === goneStatus || readText(body, 'code') === tooManyChecksCode) return false
      return toRefusal(status, body)
    },
  },
})
