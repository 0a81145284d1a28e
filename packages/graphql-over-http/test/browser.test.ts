/**
 * @servers chromium
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { after, before, test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { build } from 'esbuild'
import { createHandler } from '../src/adapters/http.ts'
import type { AuditResult } from '../src/audits/index.ts'
import { renderAuditPage } from '../src/cli/html-page.ts'
import { schema } from './support/hosts/schema.ts'

// Tests in a real browser: the client and the audits from a page, and the report page.

const pageScript = `
  import { createClient } from './client.ts'
  import { auditServer } from './audits/index.ts'
  const url = location.origin + '/graphql'
  window.execute = (query) => createClient({ url }).execute({ query })
  window.cancel = () => new Promise((resolve) => {
    const calls = []
    const cancel = createClient({ url }).subscribe({ query: '{ hello }' }, {
      next: () => calls.push('next'),
      error: () => calls.push('error'),
      complete: () => resolve([...calls, 'complete']),
    })
    cancel()
  })
  window.audit = async () =>
    (await auditServer({ url })).map(({ id, status, reason }) => ({ id, status, reason }))
`

/** The properties that the script sets on the page's window. */
interface PageGlobals {
  execute(query: string): Promise<{ data?: unknown }>
  cancel(): Promise<readonly string[]>
  audit(): Promise<AuditResult[]>
}

const handler = createHandler({ schema })
let script = ''
let report = ''
const server = createServer((req, res) => {
  if (req.url?.startsWith('/graphql')) return handler(req, res)
  const page = req.url === '/report' ? report : '<!doctype html><script src="/script.js"></script>'
  const [type, body] = req.url === '/script.js' ? ['text/javascript', script] : ['text/html', page]
  res.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body)
})

before(async () => {
  const { outputFiles } = await build({
    stdin: { contents: pageScript, resolveDir: `${dirname(import.meta.dirname)}/src` },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
  })
  script = outputFiles[0]?.text ?? ''
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
after(() => server.close())

test('client, audits and report page work in a browser', async (t) => {
  const chromium = await open(t, 'chromium')
  if (!chromium) return
  const page = await chromium.browser.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await page.goto(origin)

  await t.test('the client sends a request and receives the result', async () => {
    const result = await page.evaluate(() =>
      (window as unknown as PageGlobals).execute('{ hello }'),
    )
    assert.deepEqual(result, { data: { hello: 'world' } })
  })

  await t.test('a cancelled request completes and delivers nothing', async () => {
    const calls = await page.evaluate(() => (window as unknown as PageGlobals).cancel())
    assert.deepEqual(calls, ['complete'])
  })

  let results: AuditResult[] = []
  await t.test('the audits run, and the server passes', async () => {
    results = await page.evaluate(() => (window as unknown as PageGlobals).audit())
    assert.equal(results.length, 61)
    assert.deepEqual(
      results.filter(({ status }) => status !== 'ok'),
      [],
    )
  })

  await t.test('the report page shows the results, in a narrow window too', async () => {
    const { auditServer } = await import('../src/audits/index.ts')
    report = await renderAuditPage(await auditServer({ url: `${origin}/graphql` }), { url: origin })
    await page.goto(`${origin}/report`)
    assert.match(await page.innerText('main, body'), /61/)
    await page.setViewportSize({ width: 360, height: 640 })
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    assert.equal(overflow, 0)
  })

  assert.deepEqual(complaints, [])
})
