import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { listen, runAudit, runCommand } from './support/audit-command.ts'
import { readElements } from './support/audit-html.ts'
import { startAuditServer } from './support/audit-server.ts'

const ESCAPE = '\u001b'

describe('audit URL', { concurrency: 2 }, () => {
  test('prints every audit by level and exits with 0 when all pass', async (t) => {
    const server = await startAuditServer()
    t.after(() => server.close())
    const { code, stdout, stderr } = await runCommand(['audit', server.url])
    assert.equal(code, 0)
    assert.equal(stderr, '')
    const lines = stdout.split('\n')
    assert.equal(lines[0], `GraphQL over HTTP audit of ${server.url}`)
    assert.deepEqual(
      lines.filter((line) => /^(MUST|SHOULD|MAY) /.test(line)),
      [
        'MUST (required)  13 of 13 pass',
        'SHOULD (recommended)  23 of 23 pass',
        'MAY (optional)  25 of 25 pass',
      ],
    )
    assert.equal(lines.filter((line) => line.startsWith('  ✓ ')).length, 61)
    assert.ok(lines.includes('  ✓ 4655  MUST accept application/json and match the content-type'))
    assert.equal(lines.at(-2), '61 of 61 audits pass')
  })

  test('writes no control sequences into a pipe, nor any progress', async (t) => {
    const server = await startAuditServer()
    t.after(() => server.close())
    const { stdout, stderr } = await runCommand(['audit', server.url], { FORCE_COLOR: '1' })
    assert.equal(stdout.includes(ESCAPE), false)
    assert.equal(stderr, '')
  })

  test('waits for a server that limits requests, without counting a violation', async (t) => {
    let requests = 0
    const server = await startAuditServer({
      spoil: (x) => {
        requests += 1
        if (requests % 4 === 3) Object.assign(x, { status: 429, body: '' })
      },
    })
    t.after(() => server.close())
    const { code, stdout } = await runCommand(['audit', server.url])
    assert.equal(code, 0)
    assert.match(stdout, /^61 of 61 audits pass$/m)
    assert.ok(requests > 61 + 10)
  })

  test('exits with 1 on an error and gives the reason', async (t) => {
    const server = await startAuditServer({
      spoil: (x) => {
        if (x.headers['accept'] === 'application/json') x.status = 202
      },
    })
    t.after(() => server.close())
    const { code, stdout } = await runCommand(['audit', server.url])
    assert.equal(code, 1)
    const lines = stdout.split('\n')
    const at = lines.indexOf('  ✗ 4655  MUST accept application/json and match the content-type')
    assert.equal(lines[at + 1], '          Response status code is not 200 (the status is 202)')
    assert.match(stdout, /MUST \(required\) {2}5 of 13 pass/)
    assert.match(stdout, /\n48 of 61 audits pass, 8 errors, 5 warnings\n$/)
  })

  test('exits with 0 on warnings, and with 1 with --fail-on warn', async (t) => {
    const server = await startAuditServer({
      spoil: (x) => {
        if (x.situation === 'unparsable body') x.status = 500
      },
    })
    t.after(() => server.close())
    const lenient = await runAudit(['audit', server.url])
    assert.equal(lenient.code, 0)
    assert.match(lenient.stdout, /59 of 61 audits pass, 2 warnings/)
    const strict = await runAudit(['audit', server.url, '--fail-on', 'warn'])
    assert.equal(strict.code, 1)
    assert.equal(strict.stdout, lenient.stdout)
  })

  test('prints JSON and nothing else with --json', async (t) => {
    const server = await startAuditServer({ introspection: false })
    t.after(() => server.close())
    const { code, stdout, stderr } = await runAudit(['audit', server.url, '--json'])
    assert.equal(code, 1)
    assert.equal(stderr, '')
    const { audits, levels, ...report } = JSON.parse(stdout)
    assert.deepEqual(report, {
      url: server.url,
      profile: 'classic',
      total: 61,
      ok: 57,
      warn: 3,
      error: 1,
    })
    assert.deepEqual(levels.MUST, { total: 13, ok: 12, warn: 0, error: 1 })
    assert.deepEqual(
      audits.find((audit: { id: string }) => audit.id === '28B9'),
      {
        id: '28B9',
        name: 'MUST allow map {variables} parameter when accepting application/json',
        level: 'MUST',
        status: 'error',
        reason: 'Response body execution result has a property "errors"',
      },
    )
  })

  test('writes a page with --html and prints its path', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'audit-'))
    t.after(() => rm(folder, { recursive: true }))
    const server = await startAuditServer()
    t.after(() => server.close())
    const file = join(folder, 'report.html')
    const { code, stdout, stderr } = await runAudit(['audit', server.url, '--html', file])
    assert.equal(code, 0)
    assert.match(stdout, /61 of 61 audits pass/)
    assert.equal(stderr, `The report page is in ${file}\n`)
    const page = await readFile(file, 'utf8')
    assert.ok(readElements(page).includes('main'))
    assert.match(page, /All 61 audits pass/)
  })

  test('sends each --header with every request, the first one included', async (t) => {
    const seen = new Set<string>()
    const server = await startAuditServer({
      onRequest: ({ headers }) => seen.add(`${headers.authorization} ${headers['x-tenant']}`),
    })
    t.after(() => server.close())
    const flags = ['--header', 'Authorization: Bearer a:b', '--header', 'X-Tenant:7']
    const { code } = await runAudit(['audit', server.url, '--extended', ...flags])
    assert.equal(code, 0)
    assert.deepEqual([...seen], ['Bearer a:b 7'])
  })

  test('tests for the 2026 draft with --profile 2026, and adds audits with --extended', async (t) => {
    const server = await startAuditServer({ profile: '2026' })
    t.after(() => server.close())
    const flags = ['--profile', '2026', '--extended', '--json']
    const { code, stdout } = await runAudit(['audit', server.url, ...flags])
    assert.equal(code, 0)
    const { profile, total, ok } = JSON.parse(stdout)
    assert.deepEqual({ profile, total, ok }, { profile: '2026', total: 118, ok: 118 })
  })

  test('ends with one sentence when the server becomes unreachable midway', async (t) => {
    let requests = 0
    const url = await listen(t, (request, response) => {
      if (++requests > 5) return request.socket.destroy()
      response.setHeader('content-type', 'application/json')
      response.end('{"data":{"__typename":"Query"}}')
    })
    const { code, stdout, stderr } = await runAudit(['audit', url])
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /^http:\S+ closed the connection without responding: [^\n]*\n$/)
  })
})
