import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createTransport, type Transporter } from 'nodemailer'
import {
  type MailboxSettings,
  openMailbox,
  type RunningMailbox,
} from '../../src/mailbox/open-mailbox.ts'

export const smsSecret = 'a secret between the auth server and its gateway'

export function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-mailbox-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function openTestMailbox(
  t: TestContext,
  settings: Partial<MailboxSettings> = {},
): Promise<RunningMailbox> {
  const { folder = makeFolder(t), ...others } = settings
  const mailbox = await openMailbox({
    host: '127.0.0.1',
    smtpPort: 0,
    smsPort: 0,
    smsSecret,
    folder,
    ...others,
  })
  t.after(() => mailbox[Symbol.asyncDispose]())
  return mailbox
}

/** Creates a sender that opens a new connection for every mail. */
export function createSender(smtpAddress: string, options: object = {}): Transporter {
  const { hostname: host, port } = new URL(`smtp://${smtpAddress}`)
  return createTransport({ host, port: Number(port), ...options })
}

export function toMail(subject: string, more: object = {}): object {
  return {
    from: 'Portcullis <no-reply@example.com>',
    to: 'ada@example.com',
    subject,
    text: 'Hello',
    ...more,
  }
}
