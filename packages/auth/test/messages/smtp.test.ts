import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createAuthority } from '@portcullis/test-servers'
import { openSmtp, type SmtpSettings } from '../../src/messages/mail/smtp.ts'
import { openMailServer } from '../support/mail-server.ts'

const mail = {
  to: 'ada@example.com',
  subject: 'Grüße',
  html: '<p>Code 123456 – ü</p>',
  text: 'Code 123456 – ü',
  messageId: '<abc@auth.example>',
}

function openClient(t: TestContext, port: number, settings: Partial<SmtpSettings> = {}) {
  const client = openSmtp({
    ...{ host: '127.0.0.1', port, user: '', password: '' },
    from: { name: 'The "Site", Ltd', address: 'noreply@auth.example' },
    ...settings,
  })
  t.after(() => client[Symbol.asyncDispose]())
  return client
}

const never = new AbortController().signal

test('a message has the headers that mail servers and clients expect', async (t) => {
  const server = await openMailServer(t)
  await openClient(t, server.port).send(mail, never)
  const [received] = server.received
  assert.ok(received)
  assert.equal(received.from, 'noreply@auth.example')
  assert.deepEqual(received.to, ['ada@example.com'])
  const { headers, parts } = received
  assert.equal(headers.get('from'), '"The \\"Site\\", Ltd" <noreply@auth.example>')
  assert.equal(headers.get('to'), 'ada@example.com')
  assert.equal(headers.get('subject'), '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=')
  assert.equal(headers.get('message-id'), '<abc@auth.example>')
  assert.equal(headers.get('auto-submitted'), 'auto-generated')
  assert.equal(headers.get('mime-version'), '1.0')
  assert.ok(Math.abs(Date.parse(headers.get('date') ?? '') - Date.now()) < 60_000)
  assert.match(headers.get('content-type') ?? '', /^multipart\/alternative/)
  assert.deepEqual(
    [...parts],
    [
      ['text/plain', mail.text],
      ['text/html', mail.html],
    ],
  )
})

test('additional headers are sent, with the kind of message', async (t) => {
  const server = await openMailServer(t)
  const headers = {
    'X-Tag': ['auth', 'type=$messageType;$messageType'],
    'X-Empty': [''],
    'X-SES-Configuration-Set': ['main'],
  }
  const client = openClient(t, server.port, { headers })
  await client.send({ ...mail, kind: 'magic_link' }, never)
  const [received] = server.received
  const lines = (received?.raw ?? '').split('\r\n\r\n')[0]?.split('\r\n') ?? []
  const named = (name: string) => lines.filter((line) => line.toLowerCase().startsWith(name))
  assert.deepEqual(named('x-tag'), ['X-Tag: auth', 'X-Tag: type=magic_link;magic_link'])
  assert.equal(received?.headers.get('x-ses-configuration-set'), 'main')
  assert.deepEqual(named('x-empty'), [])
  assert.equal(received?.headers.get('auto-submitted'), 'auto-generated')
  assert.equal(named('from').length, 1)
})

test('consecutive messages share a connection', async (t) => {
  const server = await openMailServer(t)
  const client = openClient(t, server.port)
  for (let count = 0; count < 3; count++) await client.send(mail, never)
  assert.equal(server.received.length, 3)
  assert.equal(server.connections, 1)
})

test('concurrent messages use separate connections', async (t) => {
  const server = await openMailServer(t)
  const client = openClient(t, server.port)
  await Promise.all([client.send(mail, never), client.send(mail, never)])
  assert.equal(server.received.length, 2)
  assert.equal(server.connections, 2)
})

test('an idle connection is closed', async (t) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const server = await openMailServer(t, { onClose: () => resolve() })
  await openClient(t, server.port, { idleMs: 10 }).send(mail, never)
  await closed
  assert.equal(server.received.length, 1)
})

test('the next message opens a new connection after the server closed the previous one', async (t) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const server = await openMailServer(t, { socketTimeout: 2_000, onClose: () => resolve() })
  const client = openClient(t, server.port)
  await client.send(mail, never)
  await closed
  // The client needs some time to notice that the connection was closed.
  await new Promise((done) => setTimeout(done, 50))
  await new Promise((done) => setImmediate(done))
  await client.send(mail, never)
  assert.equal(server.received.length, 2)
})

test('encryption', async (t) => {
  const authority = createAuthority('tests')
  const { certificate: cert, key } = authority.issue('localhost')
  const ca = authority.certificate

  await t.test('is used if the server offers STARTTLS', async (t) => {
    const server = await openMailServer(t, { cert, key })
    await openClient(t, server.port, { host: 'localhost', ca }).send(mail, never)
    assert.equal(server.received[0]?.isEncrypted, true)
  })
  await t.test('is used for authentication', async (t) => {
    const server = await openMailServer(t, {
      ...{ cert, key, authOptional: false, authMethods: ['LOGIN'] },
      onAuth: ({ username, password }, _, callback) =>
        password === 'right' ? callback(null, { user: username }) : callback(new Error('Wrong')),
    })
    const account = { host: 'localhost', ca, user: 'ada', password: 'right' }
    await openClient(t, server.port, account).send(mail, never)
    assert.equal(server.received[0]?.user, 'ada')
    assert.equal(server.received[0]?.isEncrypted, true)
    const wrong = openClient(t, server.port, { ...account, password: 'a secret' })
    await assert.rejects(wrong.send(mail, never), (error: Error) => {
      assert.equal(error.name, 'Error', 'the operator may correct the password')
      assert.match(error.message, /Invalid login: 535 Wrong/)
      assert.ok(!error.message.includes('a secret'))
      return true
    })
  })
  await t.test('is used from the start on the implicit TLS port', async (t) => {
    const server = await openMailServer(t, { cert, key, secure: true })
    const client = openClient(t, server.port, { host: 'localhost', ca, isSecure: true })
    await client.send(mail, never)
    assert.equal(server.received[0]?.isEncrypted, true)
  })
  await t.test('is refused if the certificate is not trusted', async (t) => {
    const server = await openMailServer(t, { cert, key })
    const client = openClient(t, server.port, { host: 'localhost' })
    await assert.rejects(client.send(mail, never), /certificate/)
    assert.equal(server.received.length, 0)
  })
})

test('without encryption a password is sent only to localhost', async (t) => {
  let authentications = 0
  const server = await openMailServer(t, {
    onAuth: ({ username }, _, callback) => {
      authentications++
      callback(null, { user: username })
    },
    allowInsecureAuth: true,
  })
  const account = { user: 'ada', password: 'secret' }
  await openClient(t, server.port, account).send(mail, never)
  assert.equal(server.received[0]?.user, 'ada')
  const elsewhere = openClient(t, server.port, { ...account, host: '0.0.0.0' })
  await assert.rejects(elsewhere.send(mail, never), /does not offer encryption/)
  assert.equal(authentications, 1)
})

test('messages are sent without a password if the server has no authentication', async (t) => {
  const server = await openMailServer(t, { disabledCommands: ['AUTH', 'STARTTLS'] })
  const client = openClient(t, server.port, { host: '0.0.0.0', user: 'ada', password: 'secret' })
  await client.send(mail, never)
  assert.equal(server.received[0]?.user, undefined)
})

test('a permanent refusal makes a message undeliverable', async (t) => {
  const refusal = (responseCode: number) =>
    Object.assign(new Error('No such user'), { responseCode })
  for (const [code, name] of [
    [550, 'UndeliverableError'],
    [530, 'Error'],
    [451, 'Error'],
  ] as const) {
    await t.test(`a recipient with ${code}`, async (t) => {
      const server = await openMailServer(t, {
        onRcptTo: (_, __, callback) => callback(refusal(code)),
      })
      const sent = openClient(t, server.port).send(mail, never)
      await assert.rejects(sent, { name, message: new RegExp(`${code} No such user`) })
    })
    await t.test(`a message with ${code}`, async (t) => {
      const server = await openMailServer(t, {
        onData(stream, _, callback) {
          stream.resume()
          stream.on('end', () => callback(refusal(code)))
        },
      })
      await assert.rejects(openClient(t, server.port).send(mail, never), { name })
    })
  }
  await t.test(
    'a refused sender does not make a message undeliverable, because an operator may correct it',
    async (t) => {
      const server = await openMailServer(t, {
        onMailFrom: (_, __, callback) => callback(refusal(550)),
      })
      await assert.rejects(openClient(t, server.port).send(mail, never), { name: 'Error' })
    },
  )
})

/** A server that does not follow the SMTP protocol. */
async function openFaultySmtpServer(t: TestContext, onSocket: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test('a server that disconnects in the middle of a message causes an error', async (t) => {
  const port = await openFaultySmtpServer(t, (socket) => {
    socket.write('220 hi\r\n')
    socket.on('data', (data) => {
      const text = data.toString()
      if (/^EHLO/.test(text)) socket.write('250 hi\r\n')
      else if (/^(MAIL|RCPT)/.test(text)) socket.write('250 ok\r\n')
      else if (/^DATA/.test(text)) socket.write('354 go\r\n')
      else socket.destroy()
    })
  })
  await assert.rejects(openClient(t, port).send(mail, never), { name: 'Error' })
})

test('sending to a silent server ends when the signal is aborted', async (t) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const controller = new AbortController()
  const port = await openFaultySmtpServer(t, (socket) => {
    socket.on('close', () => resolve())
    // Wait until there is a connection to close.
    setTimeout(() => controller.abort(), 100)
  })
  const sent = openClient(t, port).send(mail, controller.signal)
  await assert.rejects(sent)
  await closed
})

test('an address cannot inject headers or recipients', async (t) => {
  const server = await openMailServer(t)
  const client = openClient(t, server.port)
  for (const to of [
    'a@b.c\r\nBcc: evil@example.com',
    'a@b.c>\r\nRCPT TO:<evil@example.com',
    'a@b.c> NOTIFY=SUCCESS',
    'a@b.c evil@example.com',
    '<evil@example.com>',
    'no-domain',
    '',
  ]) {
    await assert.rejects(client.send({ ...mail, to }, never), { name: 'UndeliverableError' })
  }
  assert.equal(server.received.length, 0)
  await client.send(
    { ...mail, to: 'a,evil@example.com', subject: 'x\r\nBcc: evil@example.com' },
    never,
  )
  const [received] = server.received
  assert.deepEqual(received?.to, ['a,evil@example.com'])
  assert.equal(received?.headers.has('bcc'), false)
})

test('the sender name cannot inject headers', async (t) => {
  const server = await openMailServer(t)
  const from = { name: 'x\r\nBcc: evil@example.com', address: 'noreply@auth.example' }
  await openClient(t, server.port, { from }).send(mail, never)
  assert.equal(server.received[0]?.headers.has('bcc'), false)
})
