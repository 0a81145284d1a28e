import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createSender, openTestMailbox, smsSecret, toMail } from './open-test-mailbox.ts'

test('a mail is caught with all its recipients, its parts and its attachments', async (t) => {
  const mailbox = await openTestMailbox(t)
  const changes: number[] = []
  mailbox.watch(() => changes.push(mailbox.list().length))

  await createSender(mailbox.smtpAddress).sendMail({
    from: { name: 'Zoë of Portcullis', address: 'no-reply@example.com' },
    to: 'ada@example.com',
    cc: 'grace@example.com',
    bcc: 'hidden@example.com',
    subject: 'Grüße — ✓',
    text: 'Good\nmorning',
    html: '<p>Good <b>morning</b> <img src="cid:logo@example.com"></p>',
    attachments: [
      { filename: 'naïve.txt', content: 'kept' },
      { filename: 'logo.png', content: Buffer.from('picture'), cid: 'logo@example.com' },
    ],
  })

  assert.deepEqual(changes, [1])
  const [summary] = mailbox.list()
  assert.ok(summary)
  assert.equal(summary.kind, 'email')
  assert.equal(summary.from, 'Zoë of Portcullis <no-reply@example.com>')
  assert.deepEqual(summary.to, ['ada@example.com', 'grace@example.com', 'hidden@example.com'])
  assert.equal(summary.subject, 'Grüße — ✓')
  assert.equal(summary.excerpt, 'Good morning')
  assert.equal(summary.isRead, false)
  const message = await mailbox.find(summary.id)
  assert.equal(message?.text, 'Good\nmorning')
  assert.match(message?.html ?? '', /<b>morning<\/b>/)
  assert.deepEqual(
    message?.attachments.map(({ name, contentId, content }) => [
      name,
      contentId,
      Buffer.from(content).toString(),
    ]),
    [
      ['logo.png', 'logo@example.com', 'picture'],
      ['naïve.txt', undefined, 'kept'],
    ],
  )
})

test('any user name and password can send mail, and so can unauthenticated clients', async (t) => {
  const mailbox = await openTestMailbox(t)
  const methods = ['PLAIN', 'LOGIN', 'CRAM-MD5']
  for (const method of methods) {
    const auth = { user: 'any', pass: 'anything' }
    const sender = createSender(mailbox.smtpAddress, { auth, authMethod: method })
    await sender.sendMail(toMail(method))
  }
  await createSender(mailbox.smtpAddress).sendMail(toMail('unauthenticated'))
  assert.deepEqual(
    mailbox.list().map(({ subject }) => subject),
    ['unauthenticated', ...methods.toReversed()],
  )
})

test('a mail of more than 10 MB is refused, and the next one is accepted', async (t) => {
  const mailbox = await openTestMailbox(t)
  const sender = createSender(mailbox.smtpAddress)
  const attachments = [{ filename: 'large.bin', content: Buffer.alloc(11 * 1024 * 1024) }]
  await assert.rejects(sender.sendMail(toMail('large', { attachments })), { responseCode: 552 })
  await sender.sendMail(toMail('small'))
  assert.deepEqual(
    mailbox.list().map(({ subject }) => subject),
    ['small'],
  )
})

test('only the newest messages are kept, by number and by size', async (t) => {
  const mailbox = await openTestMailbox(t, { maxMessages: 3, maxBytes: 50_000 })
  const sender = createSender(mailbox.smtpAddress)
  const subjects = () => mailbox.list().map(({ subject }) => subject)
  for (const subject of ['1', '2', '3', '4']) await sender.sendMail(toMail(subject))
  assert.deepEqual(subjects(), ['4', '3', '2'])
  await sender.sendMail(toMail('large', { text: 'word '.repeat(9_900) }))
  assert.deepEqual(subjects(), ['large'])
})

/** Input of clients that do not speak SMTP, or are malicious. */
const invalidInputs: Readonly<Record<string, readonly (string | Buffer)[]>> = {
  'a browser': ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  'random bytes': [Buffer.from(Array.from({ length: 4_000 }, (_, at) => (at * 7) % 256))],
  'a line without an end': ['MAIL FROM:<'.padEnd(200_000, 'a')],
  'a client that disconnects in the middle of a mail': [
    'EHLO me\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n',
    'Subject: half\r\n\r\nHalf of the ',
  ],
}

test('invalid input does not affect other clients', async (t) => {
  const mailbox = await openTestMailbox(t)
  const { hostname, port } = new URL(`smtp://${mailbox.smtpAddress}`)
  for (const [name, input] of Object.entries(invalidInputs)) {
    await t.test(name, async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      const closed = once(socket, 'close')
      await once(socket, 'data')
      for (const chunk of input) socket.write(chunk)
      socket.end()
      socket.resume()
      await closed
      await createSender(mailbox.smtpAddress).sendMail(toMail(name))
      assert.equal(mailbox.list()[0]?.subject, name)
    })
  }
  assert.equal(mailbox.list().length, Object.keys(invalidInputs).length)
})

const malformedMails: Readonly<Record<string, string>> = {
  'nothing at all': '',
  'no headers': 'just words',
  'a boundary that never comes': 'Content-Type: multipart/mixed; boundary="x"\r\n\r\nwords\r\n',
  'an unknown character set':
    'Content-Type: text/plain; charset=klingon\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!\r\n',
  'parts in parts in parts': Array.from(
    { length: 400 },
    (_, depth) => `Content-Type: multipart/mixed; boundary="b${depth}"\r\n\r\n--b${depth}\r\n`,
  ).join(''),
  'headers with zeros': `Subject: a\0b\r\nFrom: \0 <\0>\r\n\r\n${'\0'.repeat(100)}`,
}

test('malformed mails are stored and can be read', async (t) => {
  const mailbox = await openTestMailbox(t)
  const sender = createSender(mailbox.smtpAddress)
  for (const [name, raw] of Object.entries(malformedMails)) {
    await t.test(name, async () => {
      const envelope = { from: 'me@example.com', to: ['ada@example.com'] }
      await sender.sendMail({ envelope, raw })
      const [summary] = mailbox.list()
      assert.ok(summary)
      assert.deepEqual(summary.to, ['ada@example.com'])
      const message = await mailbox.find(summary.id)
      assert.equal(typeof message?.text, 'string')
      assert.equal(message?.id, summary.id)
    })
  }
  assert.equal(mailbox.list().length, Object.keys(malformedMails).length)
})

test('messages can be marked as read, removed and cleared', async (t) => {
  const mailbox = await openTestMailbox(t)
  const sender = createSender(mailbox.smtpAddress)
  for (const subject of ['a', 'b', 'c']) await sender.sendMail(toMail(subject))
  const [c, b, a] = mailbox.list()
  assert.ok(a && b && c)

  await mailbox.markRead(b.id)
  assert.deepEqual(
    mailbox.list().map(({ isRead }) => isRead),
    [false, true, false],
  )
  assert.equal((await mailbox.find(b.id))?.subject, 'b')
  assert.equal(await mailbox.remove(b.id), true)
  assert.equal(await mailbox.remove(b.id), false)
  assert.equal(await mailbox.find(b.id), undefined)
  assert.deepEqual(
    mailbox.list().map(({ subject }) => subject),
    ['c', 'a'],
  )
  await mailbox.clear()
  assert.deepEqual(mailbox.list(), [])
  assert.equal(await mailbox.readSource(a.id), undefined)
})

test('a mail that takes too long to parse is stored as text, and does not block other messages', async (t) => {
  const program = new URL('./endless-worker.ts', import.meta.url)
  const mailbox = await openTestMailbox(t, { mailReader: { program, maxMs: 2_000 } })
  const sender = createSender(mailbox.smtpAddress)
  const late = sender.sendMail(toMail('endless'))
  const posted = await fetch(mailbox.smsUrl, {
    method: 'POST',
    headers: { authorization: `Bearer ${smsSecret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to: '+15550001', message: 'Your code is 123456' }),
  })
  assert.equal(posted.status, 200)
  await late
  await sender.sendMail(toMail('after it'))
  const mails = mailbox.list().filter(({ kind }) => kind === 'email')
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    ['after it', ''],
  )
  assert.match(mails[1]?.excerpt ?? '', /Subject: endless/)
})

test('mail that would need too much memory at once is refused temporarily, and smaller mail is accepted', async (t) => {
  const mailbox = await openTestMailbox(t, { maxArrivingBytes: 100_000 })
  const sender = createSender(mailbox.smtpAddress)
  const large = toMail('large', { text: 'line\n'.repeat(30_000) })
  await assert.rejects(sender.sendMail(large), { responseCode: 452 })
  await sender.sendMail(toMail('small'))
  await sender.sendMail(toMail('small again', { text: 'line\n'.repeat(10_000) }))
  await sender.sendMail(toMail('small again', { text: 'line\n'.repeat(10_000) }))
  assert.equal(mailbox.list().length, 3)
})
