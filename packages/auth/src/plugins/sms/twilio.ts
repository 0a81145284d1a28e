import { type Gateway, isFinalStatus, isSuccess, readText } from './gateway.ts'

/** https://www.twilio.com/docs/messaging/api/message-resource */
export const twilio: Gateway = {
  baseUrl: 'https://api.twilio.com',

  toRequest({ to, text, code, channel }, settings, baseUrl) {
    const { twilioAccountSid: sid, twilioAuthToken, twilioMessageServiceSid: sender } = settings
    const credentials = Buffer.from(`${sid}:${twilioAuthToken}`).toString('base64')
    const isWhatsapp = channel === 'whatsapp'
    const contentSid = isWhatsapp ? settings.twilioContentSid : ''
    return {
      url: `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(sid)}/Messages.json`,
      headers: { authorization: `Basic ${credentials}` },
      body: {
        form: {
          To: `${isWhatsapp ? 'whatsapp:' : ''}+${to}`,
          Channel: channel,
          // A message service finds its own sender for each channel.
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
      const message = readText(body, 'message') ?? `the answer was ${status}`
      return { reason: `twilio error: ${message} (${code})`, isFinal: isFinalStatus(status) }
    }
    if (outcome === 'failed' || outcome === 'undelivered') {
      const message = readText(body, 'error_message') ?? outcome
      return { reason: `twilio error: ${message} (${code})`, isFinal: true }
    }
    if (readText(body, 'sid') !== undefined) return undefined
    return { reason: 'twilio error: the answer names no message', isFinal: false }
  },
}
