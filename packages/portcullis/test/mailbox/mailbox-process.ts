// Runs a mailbox in a separate process, which a test kills.

import { openMailbox } from '../../src/mailbox/open-mailbox.ts'

const [folder = ''] = process.argv.slice(2)
const mailbox = await openMailbox({
  host: '127.0.0.1',
  smtpPort: 0,
  smsPort: 0,
  smsSecret: 'unused',
  folder,
})
console.log(mailbox.smtpAddress)
