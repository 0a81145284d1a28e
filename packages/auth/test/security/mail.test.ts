/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { createMailRenderer } from '../../src/messages/mail/mail-renderer.ts'
import type { FetchSettings } from '../../src/outgoing/guarded-fetch.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, sdk, send } from '../support/http-client.ts'
import { openMailServer } from '../support/mail-server.ts'

async function openWebServer(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return port
}

/** Values are inserted in contexts where they could be dangerous. */
const template = `<p>{{ .Data.name }}</p><p title="{{ .Data.name }}">x</p><p title={{ .Data.name }}>x</p>
<a href="{{ .Data.link }}">link</a><a href='{{ .Data.link }}'>link</a>
<img src="{{ .Data.link }}"><a onclick="go({{ .Data.name }})">x</a>
<script>const name = {{ .Data.name }}</script><style>p { color: {{ .Data.name }} }</style>
<p>{{ .Email }} {{ .Token }}</p>`

const names = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "'><svg onload=alert(1)>",
  'x onmouseover=alert(1)',
  '</script><script>alert(1)</script>',
  '</style><script>alert(1)</script>',
  '<!--',
  '{{ .Token }}{{ .TokenHash }}',
  '{{ range . }}{{ . }}{{ end }}',
  '{{ .ConfirmationURL }}',
  'Ada\r\nBcc: everybody@example.com\r\n\r\n<script>alert(1)</script>',
  'Ada\nX-Injected: 1',
  'Ada\u2028X-Injected: 1',
  '=?utf-8?q?=0D=0ABcc:_x@example.com?=',
  '</title></p></a><script>alert(1)</script>',
  'a'.repeat(5_000),
]
const links = [
  'javascript:alert(1)',
  'JAVASCRIPT:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  '" onclick="alert(1)',
  "' onclick='alert(1)",
  '&#106;avascript:alert(1)',
  'javascript&colon;alert(1)',
]

test('user data cannot do harm in a message', async (t) => {
  const mailServer = await openMailServer(t)
  const port = await openWebServer(t, (_request, response) => response.end(template))
  const server = await openFlowServer(t, {
    AUTH_SITE_URL: `http://127.0.0.1:${port}`,
    AUTH_SMTP_PORT: `${mailServer.port}`,
    AUTH_SMTP_SENDER_NAME: 'Site',
    AUTH_MAILER_TEMPLATES_CONFIRMATION: '/confirm.html',
    AUTH_MAILER_SUBJECTS_CONFIRMATION: 'Hello {{ .Data.name }}',
  })
  if (!server) return
  const people = [
    ...names.map((name) => ({ name, link: 'https://fine.example/' })),
    ...links.map((link) => ({ name: 'Ada', link })),
  ]
  for (const data of people) {
    const { status } = await send(server.url, '/magiclink', {
      body: { email: newEmail(), data },
      headers: sdk,
    })
    assert.equal(status, 200)
  }
  const received = await mailServer.waitFor(people.length)
  const plain = received.find(({ headers }) => headers.get('subject') === 'Hello Ada')
  const toTags = (html: string) => html.match(/<\/?[a-z!][^\s>]*/gi) ?? []
  const expected = toTags(plain?.parts.get('text/html') ?? '')
  assert.ok(expected.length > 15)

  await t.test('every message has the tags of its template, and no others (property 28)', () => {
    for (const { parts, to } of received) {
      const html = parts.get('text/html') ?? ''
      assert.deepEqual(toTags(html), expected, html)
      for (const [, link = ''] of html.matchAll(/(?:href|src)=(?:"|')([^"']*)/g)) {
        // oxlint-disable-next-line no-control-regex -- browsers ignore these characters
        const read = link.replaceAll('&amp;', '&').replaceAll(/[\u0000-\u0020]/g, '')
        assert.doesNotMatch(read, /^(?:javascript|vbscript|data):/i)
      }
      assert.doesNotMatch(html.replaceAll(/"[^"]*"|'[^']*'/g, '""'), /<[^>]*\son(?!click)\w+=/)
      // A template in a value is literal text; the code appears only where the template has it.
      const code = /\b\d{6}<\/p>/.exec(html)?.[0].slice(0, 6) ?? ''
      // The digits may occur in the address by chance.
      assert.equal(html.replaceAll(to[0] ?? '', '').split(code).length, 2, html)
      assert.doesNotMatch(html, /verify\?token=/)
    }
  })

  await t.test(
    'no header or recipient is added, and a subject stays one line (property 27)',
    () => {
      for (const mail of received) {
        assert.equal(mail.to.length, 1)
        assert.match(mail.to[0] ?? '', /^user-[\w-]+@example\.com$/)
        assert.equal(mail.headers.get('to'), mail.to[0])
        for (const name of ['bcc', 'cc', 'x-injected']) assert.equal(mail.headers.has(name), false)
        const known = /^(?:from|to|subject|date|message-id|mime-version|content-|auto-|x-auto)/
        for (const name of mail.headers.keys()) assert.match(name, known)
      }
    },
  )

  await t.test('built-in messages contain no user data (property 28)', async (t) => {
    const inbox = await openMailServer(t)
    const plainServer = await openFlowServer(t, { AUTH_SMTP_PORT: `${inbox.port}` })
    if (!plainServer) return
    const data = { name: '<b>evil</b>', Token: 'evil', ConfirmationURL: 'https://evil.example' }
    await send(plainServer.url, '/signup', { body: { email: newEmail(), password, data } })
    await send(plainServer.url, '/invite', {
      body: { email: newEmail(), data },
      token: plainServer.serviceToken,
    })
    for (const { raw, parts } of await inbox.waitFor(2)) {
      assert.doesNotMatch(`${raw}${[...parts.values()].join()}`, /evil/)
    }
  })
})

test('no template is fetched from the internal network, however it is named (property 29)', async (t) => {
  let requests = 0
  const port = await openWebServer(t, (request, response) => {
    requests += 1
    const [, target] = /^\/to\?(.*)$/.exec(request.url ?? '') ?? []
    if (target === undefined) response.end('<p>internal page</p>')
    else response.writeHead(302, { location: decodeURIComponent(target) }).end()
  })
  const rebinding = ['1.1.1.1', '127.0.0.1']
  const addresses: Readonly<Record<string, readonly string[]>> = {
    'inside.example': ['127.0.0.1'],
    'mixed.example': ['1.1.1.1', '10.0.0.1'],
    'six.example': ['::1'],
    'mapped.example': ['::ffff:127.0.0.1'],
    'metadata.example': ['169.254.169.254'],
    'site.example': ['127.0.0.1'],
  }
  const resolve: NonNullable<FetchSettings['resolve']> = async (host) =>
    (addresses[host] ?? [rebinding.shift() ?? '127.0.0.1']).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
  const render = async (url: string) => {
    const log: string[] = []
    const siteUrl = `http://site.example:${port}`
    const { config } = parseConfig({
      AUTH_SITE_URL: siteUrl,
      AUTH_MAILER_TEMPLATES_INVITE: url,
    })
    const { html } = await createMailRenderer({
      mail: config.mail,
      siteUrl,
      log: { warning: (text) => void log.push(String(text)), info: () => undefined },
      fetching: { resolve, timeoutMs: 20_000 },
    }).render('invite', { SiteURL: siteUrl, Token: '123456', ConfirmationURL: siteUrl, Data: {} })
    return { html, log: log.join() }
  }
  const hosts = [
    ...['localhost', '127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0.0.0.0'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]'],
    ...['10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.100.100.200'],
    ...['[fe80::1]', '[fd00:ec2::254]', '[fc00::1]', '[2002:7f00:1::]', '127.0.0.1.'],
    ...Object.keys(addresses).filter((host) => host !== 'site.example'),
  ]
  const urls = [
    ...hosts.filter((host) => host !== 'localhost').map((host) => `http://${host}:${port}/`),
    ...['file:///etc/passwd', 'ftp://127.0.0.1/', 'gopher://127.0.0.1/'],
  ]
  for (const url of urls) {
    const { html, log } = await render(url)
    assert.match(html, /You have been invited/, url)
    assert.match(log, /is not available/, url)
  }
  assert.equal(requests, 0)

  // The site may be internal, but it must not redirect.
  assert.match((await render('/mail.html')).html, /internal page/)
  const before = requests
  for (const target of ['http://169.254.169.254/', `http://inside.example:${port}/`, 'file:///x']) {
    const { html } = await render(`/to?${encodeURIComponent(target)}`)
    assert.match(html, /You have been invited/, target)
  }
  assert.equal(requests, before + 3)

  // The name is resolved once, so it cannot change from an external to an internal address.
  await render('http://rebinding.example:9/')
  assert.deepEqual(rebinding, ['127.0.0.1'])
})
