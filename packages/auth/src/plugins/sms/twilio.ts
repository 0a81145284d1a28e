import { hideAll, string } from '@portcullis/service-kit/settings/env'
import { defineGateway, isFinalStatus, isSuccess, readText } from './gateway.ts'

/** https://www.twilio.com/docs/messaging/api/message-resource */
export const twilio = defineGateway({
  otherNames: ['gatewaya'],
  channels: ['sms', 'whatsapp'],
  variables: {
    accountSid: string('AUTH_SMS_GATEWAYA_ACCOUNT_SID', '', 'Twilio account SID', {
      aliases: ['AUTH_SMS_TWILIO_ACCOUNT_SID', 'GOTRUE_SMS_TWILIO_ACCOUNT_SID'],
    }),
    authToken: string('AUTH_SMS_GATEWAYA_AUTH_TOKEN', '', 'Twilio auth token', {
      aliases: ['AUTH_SMS_TWILIO_AUTH_TOKEN', 'GOTRUE_SMS_TWILIO_AUTH_TOKEN'],
      mask: hideAll,
    }),
    messageServiceSid: string(
      'AUTH_SMS_GATEWAYA_MESSAGE_SERVICE_SID',
      '',
      'Twilio messaging service SID, or the phone number that sends the messages',
      {
        aliases: ['AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID', 'GOTRUE_SMS_TWILIO_MESSAGE_SERVICE_SID'],
      },
    ),
    contentSid: string(
      'AUTH_SMS_TWILIO_CONTENT_SID',
      '',
      'SID of the Twilio content template for WhatsApp messages. Its first variable is the code',
    ),
  },
  required: {
    accountSid: 'missing Twilio account SID',
    authToken: 'missing Twilio auth token',
    messageServiceSid: 'missing Twilio message service SID or Twilio phone number',
  },
  baseUrl: 'https://api.twilio.com',

  toRequest({ to, text, code, channel }, settings, baseUrl) {
    const { accountSid: sid, authToken, messageServiceSid: sender } = settings
    const credentials = Buffer.from(`${sid}:${authToken}`).toString('base64')
    const isWhatsapp = channel === 'whatsapp'
    const contentSid = isWhatsapp ? settings.contentSid : ''
    return {
      url: `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(sid)}/Messages.json`,
      headers: { authorization: `Basic ${credentials}` },
      body: {
        form: {
          To: `${isWhatsapp ? 'whatsapp:' : ''}+${to}`,
          Channel: channel,
          // A messaging service chooses the sender for each channel itself.
          From: isWhatsapp && /^\+?\d+$/.test(sender) ? `whatsapp:${sender}` : sender,
          Body: text,
          ...(contentSid !== '' && {
            ContentSid: contentSid,
            ContentVariables: JSON.stringify({ 1: code }),
          }),
        },
      },
    }
  },

  findRefusal({ status, body }) {
    const outcome = readText(body, 'status')
    const code = readText(body, isSuccess(status) ? 'error_code' : 'code') ?? 'no code'
    if (!isSuccess(status)) {
      const message = readText(body, 'message') ?? `the response status was ${status}`
      return { reason: `twilio error: ${message} (${code})`, isFinal: isFinalStatus(status) }
    }
    if (outcome === 'failed' || outcome === 'undelivered') {
      const message = readText(body, 'error_message') ?? outcome
      return { reason: `twilio error: ${message} (${code})`, isFinal: true }
    }
    if (readText(body, 'sid') !== undefined) return undefined
    return { reason: 'twilio error: the response contains no message SID', isFinal: false }
  },
})
