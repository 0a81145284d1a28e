import { openMailbox } from '../../mailbox/open-mailbox.ts'
import type { StartPart } from '../part.ts'

/** Takes the mail and the text messages that the auth server sends, and shows them in the console. */
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
