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

test('messages are there after a restart, the newest first, for their owner only', async (t) => {
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
  const told = mailbox.list().map(({ kind, subject, excerpt, isRead }) => ({
    kind,
    words: subject || excerpt,
    isRead,
  }))
  assert.deepEqual(told, [
    { kind: 'whatsapp', words: 'third', isRead: false },
    { kind: 'email', words: 'second', isRead: false },
    { kind: 'email', words: 'first', isRead: true },
  ])
  for (const { id } of mailbox.list()) assert.ok(await mailbox.find(id))
  await createSender(mailbox.smtpAddress).sendMail(toMail('fourth'))
  assert.equal(mailbox.list()[0]?.subject, 'fourth')

  const files = readdirSync(join(folder, 'mailbox'), { recursive: true, withFileTypes: true })
  const modes = files.map((file) => statSync(join(file.parentPath, file.name)).mode & 0o777)
  assert.deepEqual(new Set(modes.filter((_, index) => files[index]?.isFile())), new Set([0o600]))
})

test('files that are no messages do not keep the others from being read', async (t) => {
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

test('a mailbox that is killed loses nothing that it said it had', async (t) => {
  const folder = makeFolder(t)
  const said: string[] = []
  for (const round of [1, 2]) {
    const program = join(import.meta.dirname, 'mailbox-process.ts')
    const child = spawn(process.execPath, [program, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    const exited = once(child, 'exit')
    const [smtpAddress] = await once(createInterface({ input: child.stdout }), 'line')
    const sender = createSender(smtpAddress, { pool: true, maxConnections: 4 })
    const before = said.length
    const sent = Array.from({ length: 60 }, async (_, index) => {
      const subject = `${round}-${index}`
      await sender.sendMail(toMail(subject, { text: 'word '.repeat(2_000) }))
      said.push(subject)
      // In the middle of the others.
      if (said.length === before + 10) child.kill('SIGKILL')
    })
    await Promise.allSettled(sent)
    await exited
    sender.close()
    assert.ok(said.length >= before + 10)
    assert.ok(said.length < before + 60)
  }
  await using mailbox = await openTestMailbox(t, { folder })
  const there = new Set(mailbox.list().map(({ subject }) => subject))
  assert.deepEqual(
    said.filter((subject) => !there.has(subject)),
    [],
  )
  for (const { id, subject } of mailbox.list()) {
    const message = await mailbox.find(id)
    assert.equal(message?.text, 'word '.repeat(2_000).trimEnd(), subject)
  }
})
