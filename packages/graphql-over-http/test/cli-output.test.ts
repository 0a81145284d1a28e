import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type AuditResult, auditServer } from '../src/audits/index.ts'
import { renderAuditPage } from '../src/cli/html-page.ts'
import { createProgress } from '../src/cli/progress.ts'
import { renderTable } from '../src/cli/table.ts'
import { readElements } from './support/audit-html.ts'
import { createAuditFetch, type Exchange } from './support/audit-server.ts'

const url = 'http://host/graphql'

function audit(spoil: (exchange: Exchange) => void = () => {}): Promise<AuditResult[]> {
  return auditServer({ url, fetchFn: createAuditFetch({ spoil }) })
}

describe('the table', () => {
  test('has the same text with and without colours', async () => {
    const results = await audit((x) => {
      if (x.situation === 'malformed' || x.accepted === 'application/json') x.status = 500
    })
    const plain = renderTable(results, { url, color: false })
    const colored = renderTable(results, { url, color: true })
    assert.notEqual(colored, plain)
    assert.equal(stripVTControlCharacters(colored), plain)
    assert.ok(colored.includes('\u001b[31m✗\u001b[39m'))
    assert.ok(colored.includes('\u001b[33m!\u001b[39m'))
    assert.ok(colored.includes('\u001b[36m·\u001b[39m'))
  })

  test('breaks lines between words where the terminal is narrow', async () => {
    const results = await audit()
    const wide = renderTable(results, { url, color: false })
    const narrow = renderTable(results, { url, color: false, columns: 60 })
    const lines = narrow.split('\n')
    assert.ok(lines.every((line) => line.length <= 60))
    assert.ok(lines.length > wide.split('\n').length)
    assert.equal(narrow.replace(/\n {10}(?=\S)/g, ' '), wide)
  })
})

describe('the progress', () => {
  test('is one line that is rewritten and, at the end, removed', () => {
    let written = ''
    const stream = { columns: 60, write: (text: string) => (written += text) }
    const progress = createProgress(stream, 2)
    progress.advance('22EB SHOULD accept application/graphql-response+json and more')
    progress.advance('4655')
    progress.end()
    const lines = written.split('\r\u001b[2K')
    assert.equal(lines.length, 4)
    assert.match(lines[1] ?? '', /^█{12}░{12} 1\/2 22EB SHOULD/)
    assert.equal(lines[1]?.length, 59)
    assert.equal(lines[2], `${'█'.repeat(24)} 2/2 4655`)
    assert.equal(lines[3], '')
    assert.equal(written.includes('\n'), false)
  })

  test('writes nothing when nothing happened', () => {
    let written = ''
    createProgress({ write: (text: string) => (written += text) }, 2).end()
    assert.equal(written, '')
  })
})

describe('the page', () => {
  test('is complete, well-formed and loads nothing', async () => {
    const page = await renderAuditPage(await audit(), { url, date: new Date(0) })
    const elements = readElements(page)
    assert.deepEqual(elements.slice(0, 3), ['html', 'head', 'meta'])
    assert.equal(elements.includes('script'), false)
    assert.equal(/ (src|srcset)=|@import|url\(/.test(page), false)
    assert.deepEqual(page.match(/href="[^#][^"]*"/g), null)
    assert.match(page, /<p class="verdict ok"><strong>Complies in full<\/strong>/)
    assert.match(page, /61 audits, classic status codes, 1970-01-01 00:00 UTC/)
    assert.equal(page.match(/class="tick"/g)?.length, 61)
  })

  test('distinguishes a server that misses requirements from one that misses suggestions', async () => {
    const broken = await audit((x) => {
      if (x.params?.['extensions'] && x.accepted === 'application/json') x.status = 500
    })
    assert.match(
      await renderAuditPage(broken, { url }),
      /class="verdict error"><strong>Does not comply<\/strong> 1 of 13 requirements is not met/,
    )
    const lax = await audit((x) => {
      if (x.situation === 'missing body') x.status = 500
    })
    assert.match(
      await renderAuditPage(lax, { url }),
      /class="verdict warn"><strong>Complies<\/strong> Every requirement is met; 1 suggestion is left/,
    )
  })

  test('shows request and response without their secrets', async () => {
    const fetchFn = createAuditFetch({
      spoil: (x) => {
        if (x.situation !== 'syntax error' || x.accepted === 'application/json') return
        x.status = 500
        x.responseHeaders['set-cookie'] = 'session=secret'
      },
    })
    const headers = { authorization: 'Bearer secret' }
    const results = await auditServer({ url, headers, fetchFn })
    const page = await renderAuditPage(results, { url })
    assert.match(
      page,
      /<pre>POST\naccept: application\/graphql-response\+json\ncontent-type: application\/json\n\n{"query":"{"}<\/pre>/,
    )
    assert.match(page, /<pre>500\ncontent-type: .*\nset-cookie: &lt;omitted&gt;\n\n{\n {2}"errors"/)
    assert.equal(page.includes('secret'), false)
  })

  test('is free of markup from a hostile server or address', async () => {
    const evil = '</pre><script>alert("1")</script>&amp;'
    const fetchFn = () =>
      new Response(JSON.stringify({ [evil]: evil }), {
        status: 500,
        statusText: evil,
        headers: { 'x-evil': evil },
      })
    const results = await auditServer({ url, fetchFn })
    const page = await renderAuditPage(results, { url: `http://host/${evil}` })
    assert.equal(readElements(page).includes('script'), false)
    assert.ok(page.includes('x-evil: &lt;/pre&gt;&lt;script&gt;'))
    assert.ok(page.includes('500 &lt;/pre&gt;&lt;script&gt;'))
  })

  test('leaves the responses readable', async () => {
    const fetchFn = () => new Response('text', { status: 500 })
    const results = await auditServer({ url, fetchFn })
    await renderAuditPage(results, { url })
    const [first] = results
    assert.ok(first && first.status !== 'ok')
    assert.equal(await first.response.text(), 'text')
  })
})
