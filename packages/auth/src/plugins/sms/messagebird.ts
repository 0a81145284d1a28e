import { type Gateway, isFinalStatus, isSuccess, readText } from './gateway.ts'

/** Of an account rather than of a message: no balance, and a fault of their own. */
const passing = ['25', '99']

/** https://developers.messagebird.com/api/sms-messaging */
export const messagebird: Gateway = {
  baseUrl: 'https://rest.messagebird.com',

  toRequest({ to, text }, { messagebirdAccessKey, messagebirdOriginator }, baseUrl) {
    return {
      url: `${baseUrl}/messages`,
      headers: { authorization: `AccessKey ${messagebirdAccessKey}` },
      body: {
        form: {
          originator: messagebirdOriginator,
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
      const what = readText(body, 'errors', 0, 'description') ?? `the answer was ${status}`
      const parameter = readText(body, 'errors', 0, 'parameter') ?? ''
      return {
        reason: `messagebird error: ${what} (code: ${code ?? 'none'}) parameter: ${parameter}`,
        isFinal: isFinalStatus(status) && !passing.includes(code ?? ''),
      }
    }
    if (Number(readText(body, 'recipients', 'totalSentCount') ?? 0) >= 1) return undefined
    return { reason: 'messagebird error: total sent count: 0', isFinal: true }
  },
}
