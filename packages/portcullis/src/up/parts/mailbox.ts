import { openMailbox } from '../../mailbox/open-mailbox.ts'
import type { StartPart } from '../part.ts'

/** Catches the mails and text messages of the auth server; the console shows them. */
export const startMailbox: StartPart = async (context) => {
  const { host, ports, folder, secrets } = context
  const mailbox = await openMailbox({
    host,
    smtpPort: ports.smtp,
    smsPort: ports.sms,
    smsSecret: secrets.smsSecret,
    folder,
  })
  context.mailbox = mailbox
  return {
    async stop() {
      await mailbox[Symbol.asyncDispose]()
    },
  }
}
