import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import {
  createSender,
  makeFolder,
  openTestMailbox,
  smsSecret,
  toMail,
} from './open-test-mailbox.ts'

test('messages survive a restart, newest first, in files readable by their owner only', async (t) => {
  const folder = makeFolder(t)
  {
    await using mailbox = await openTestMailbox(t, { folder })
    const sender = createSender(mailbox.smtpAddress)
    await sender.sendMail(toMail('first'))
    await sender.sendMail(toMail('second'))
    await fetch(mailbox.smsUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${smsSecret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to: '+15550100', message: 'third', channel: 'whatsapp' }),
    })
    const oldest = mailbox.list().at(-1)
    assert.ok(oldest)
    await mailbox.markRead(oldest.id)
  }
  await using mailbox = await openTestMailbox(t, { folder })
  const listed = mailbox.list().map(({ kind, subject, excerpt, isRead }) => ({
    kind,
    text: subject || excerpt,
    isRead,
  }))
  assert.deepEqual(listed, [
    { kind: 'whatsapp', text: 'third', isRead: false },
    { kind: 'email', text: 'second', isRead: false },
    { kind: 'email', text: 'first', isRead: true },
  ])
  for (const { id } of mailbox.list()) assert.ok(await mailbox.find(id))
  await createSender(mailbox.smtpAddress).sendMail(toMail('fourth'))
  assert.equal(mailbox.list()[0]?.subject, 'fourth')

  const files = readdirSync(join(folder, 'mailbox'), { recursive: true, withFileTypes: true })
  const modes = files.map((file) => statSync(join(file.parentPath, file.name)).mode & 0o777)
  assert.deepEqual(new Set(modes.filter((_, index) => files[index]?.isFile())), new Set([0o600]))
})

test('files that are not messages do not prevent reading the others', async (t) => {
  const folder = makeFolder(t)
  {
    await using mailbox = await openTestMailbox(t, { folder })
    await createSender(mailbox.smtpAddress).sendMail(toMail('whole'))
  }
  const place = (name: string) => join(folder, 'mailbox', name)
  mkdirSync(place('new/a-folder'))
  for (const content of ['', '{"id": ', 'null\n', '{"id":"other"}\n', 'x'.repeat(300_000)]) {
    writeFileSync(place(`new/stray-${content.length}`), content)
  }
  writeFileSync(place('tmp/half'), '{"id":"half"')
  await using mailbox = await openTestMailbox(t, { folder })
  assert.deepEqual(
    mailbox.list().map(({ subject }) => subject),
    ['whole'],
  )
  assert.deepEqual(readdirSync(place('tmp')), [])
})

test('a killed mailbox loses no message that it has confirmed', async (t) => {
  const folder = makeFolder(t)
  const confirmed: string[] = []
  for (const round of [1, 2]) {
    const program = join(import.meta.dirname, 'mailbox-process.ts')
    const child = spawn(process.execPath, [program, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    const exited = once(child, 'exit')
    const [smtpAddress] = await once(createInterface({ input: child.stdout }), 'line')
    const sender = createSender(smtpAddress, { pool: true, maxConnections: 4 })
    const before = confirmed.length
    const sent = Array.from({ length: 60 }, async (_, index) => {
      const subject = `${round}-${index}`
      await sender.sendMail(toMail(subject, { text: 'word '.repeat(2_000) }))
      confirmed.push(subject)
      // While other mails are still being sent.
      if (confirmed.length === before + 10) child.kill('SIGKILL')
    })
    await Promise.allSettled(sent)
    await exited
    sender.close()
    assert.ok(confirmed.length >= before + 10)
    assert.ok(confirmed.length < before + 60)
  }
  await using mailbox = await openTestMailbox(t, { folder })
  const stored = new Set(mailbox.list().map(({ subject }) => subject))
  assert.deepEqual(
    confirmed.filter((subject) => !stored.has(subject)),
    [],
  )
  for (const { id, subject } of mailbox.list()) {
    const message = await mailbox.find(id)
    assert.equal(message?.text, 'word '.repeat(2_000).trimEnd(), subject)
  }
})
