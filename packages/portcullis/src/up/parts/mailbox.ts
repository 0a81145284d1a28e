import { openMailbox } from '../../mailbox/open-mailbox.ts'
import type { StartPart } from '../part.ts'

/** Catches the mails and text messages of the auth server; the console shows them. */
export const startMailbox: StartPart = async (world) => {
  const { host, ports, folder, secrets } = world
  const mailbox = await openMailbox({
    host,
    smtpPort: ports.smtp,
    smsPort: ports.sms,
    smsSecret: secrets.smsSecret,
    folder,
  })
  world.mailbox = mailbox
  return {
    async stop() {
      await mailbox[Symbol.asyncDispose]()
    },
  }
}
