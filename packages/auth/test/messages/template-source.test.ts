import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createTemplateSource, toTemplateUrl } from '../../src/messages/mail/template-source.ts'

/** A web server with one template that the test can change. */
async function openTemplate(t: TestContext) {
  const page = { status: 200, body: 'one {{ .A }}', requests: 0 }
  const server = createServer((_, response) => {
    page.requests++
    response.writeHead(page.status).end(page.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const log: string[] = []
  const clock = { nowMs: 0 }
  const source = createTemplateSource({
    url: new URL(`http://127.0.0.1:${port}/invite.html`),
    name: 'invite',
    maxAgeMs: 600_000,
    retryMs: 10_000,
    fetching: { timeoutMs: 60_000, maxBytes: 1_000, internalHosts: ['127.0.0.1'] },
    log: { warning: (text) => log.push(String(text)), info: (text) => log.push(String(text)) },
    now: () => clock.nowMs,
  })
  const render = async () => (await source.find())?.render({ A: '<' })
  return { page, clock, log, source, render }
}

test('a template is cached for its maximum age', async (t) => {
  const { page, clock, render } = await openTemplate(t)
  assert.deepEqual(await Promise.all([render(), render(), render()]), Array(3).fill('one &lt;'))
  page.body = 'two {{ .A }}'
  clock.nowMs = 599_999
  assert.equal(await render(), 'one &lt;')
  assert.equal(page.requests, 1)
  clock.nowMs = 600_000
  assert.equal(await render(), 'two &lt;')
  assert.equal(page.requests, 2)
})

test('the last valid copy is used while the template is unavailable', async (t) => {
  const { page, clock, log, render } = await openTemplate(t)
  await render()
  page.status = 500
  clock.nowMs = 600_000
  assert.equal(await render(), 'one &lt;')
  assert.equal(await render(), 'one &lt;')
  assert.equal(page.requests, 2, 'it is not fetched again at once')
  clock.nowMs += 10_000
  assert.equal(await render(), 'one &lt;')
  assert.equal(page.requests, 3)
  assert.deepEqual(log, [
    'The template of the invite message is not available, the last valid copy is used: the response status was 500',
  ])
  Object.assign(page, { status: 200, body: 'new' })
  clock.nowMs += 10_000
  assert.equal(await render(), 'new')
  assert.equal(log.at(-1), 'The template of the invite message is available again')
})

test('a template that cannot be parsed counts as unavailable and is logged once', async (t) => {
  const { page, clock, log, render } = await openTemplate(t)
  page.body = 'a\n{{ if .A }}'
  assert.equal(await render(), undefined)
  clock.nowMs += 10_000
  assert.equal(await render(), undefined)
  assert.equal(page.requests, 2)
  assert.deepEqual(log, [
    'The template of the invite message is not available, the built-in template is used: ' +
      'line 2, column 1: this if has no {{ end }}',
  ])
})

test('a rendering failure does not disable the template, and is logged once', async (t) => {
  const { log, source, render } = await openTemplate(t)
  source.reportRenderFailure('odd data')
  source.reportRenderFailure('odd data')
  assert.equal(await render(), 'one &lt;')
  assert.equal(log.length, 1)
})

test('a template without a scheme is a path on the site', () => {
  const site = 'https://site.example/app/'
  assert.equal(toTemplateUrl('/t/a.html', site)?.href, 'https://site.example/app/t/a.html')
  assert.equal(toTemplateUrl('t.html', 'https://site.example')?.href, 'https://site.example/t.html')
  assert.equal(toTemplateUrl('https://cdn.example/t', site)?.href, 'https://cdn.example/t')
  assert.equal(toTemplateUrl('https://', site), undefined)
})
