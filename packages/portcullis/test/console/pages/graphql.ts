import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { Page } from 'playwright-core'
import { openConsole } from '../../../src/console/console.ts'
import { chooseCompletion, editorOf, fillEditor, readEditor } from '../../support/editor.ts'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import { findFaultsOfState } from './accessibility.ts'
import type { RunSuite } from './suite.ts'
import { inventEmail, removeStatusErrors } from './try-steps.ts'

async function runAudits(page: Page, url?: string): Promise<void> {
  if (url !== undefined) await page.getByLabel('Server URL').fill(url)
  await page.getByRole('button', { name: 'Run audits' }).click()
}

/** Starts another server to audit. */
async function openServer(answer: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    url: `http://127.0.0.1:${address.port}/graphql`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const goodAnswer = JSON.stringify({ data: { __typename: 'Query' } })

function isProbe({ headers }: IncomingMessage): boolean {
  return headers.accept === 'application/graphql-response+json, application/json;q=0.9'
}

export const testGraphql: RunSuite = async (t, { browser, world }) => {
  const toPageUrl = (entryUrl: string) => entryUrl.replace('/?', '/graphql-audits?')
  await using visitor = await openVisitor(browser, toPageUrl(world.entryUrl))
  const { page } = visitor

  await t.test(
    'the local API complies in full, and audits do not count towards its limits',
    async () => {
      const countLeft = async () => {
        const answer = await fetch(`${world.baseUrls.graphql}/graphql?query={hello}`)
        return Number(answer.headers.get('ratelimit-remaining'))
      }
      await page.getByText('Audits do not count towards its rate limits.').waitFor()
      const before = await countLeft()
      await runAudits(page)
      await page.getByText('Complies in full. All 61 audits pass.').waitFor()
      assert.ok((await countLeft()) >= before - 1)

      const opened = page.waitForEvent('popup')
      await page.getByRole('link', { name: 'Open report' }).click()
      const report = await opened
      await report.getByText('Complies in full').waitFor()
      const { 'content-security-policy': policy = '' } = (
        await page.request.get(report.url())
      ).headers()
      assert.match(policy, /default-src 'none'.*; sandbox$/)
      await report.close()

      const downloading = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Download JSON' }).click()
      const download = await downloading
      const json = JSON.parse(readFileSync(await download.path(), 'utf8'))
      assert.equal(json.ok, 61)
      assert.equal(json.levels.MUST.error, 0)

      // The run is kept.
      await page.reload()
      await page.getByText('Complies in full. All 61 audits pass.').waitFor()
    },
  )

  await t.test('failed audits are shown first, with reason, request and response', async () => {
    const seen = new Set<string | undefined>()
    await using server = await openServer((request, response) => {
      seen.add(request.headers.authorization)
      response.setHeader('content-type', 'text/plain').end(goodAnswer)
    })
    await switchTo(page, '/graphql-audits')
    await page.getByText('Headers and stricter audits').click()
    await page.getByLabel('Request headers').fill('Authorization: Bearer very-secret')
    await page.getByLabel('Include stricter variants').check()
    await runAudits(page, server.url)
    await page.getByText('Does not comply.', { exact: true }).waitFor()
    assert.deepEqual([...seen], ['Bearer very-secret'])

    const required = page.getByRole('region', { name: 'Required' })
    const failed = required.getByRole('listitem').first()
    await failed.getByText('Request and response (200)').click()
    await failed.getByText('content-type: text/plain').waitFor()
    await page.getByLabel('Filter audits').fill('matches no audit')
    await page.getByText('No finished audit matches').waitFor()
    await page.getByLabel('Filter audits').fill('post')
    const names = await required.getByRole('listitem').allTextContents()
    assert.ok(names.length > 0)
    assert.ok(names.every((name) => /post/i.test(name)))
    assert.doesNotMatch(await page.content(), /very-secret/)
  })

  await t.test('a URL without GraphQL is reported once, before the audits start', async () => {
    const gone = await openServer(() => {})
    await gone[Symbol.asyncDispose]()
    await using website = await openServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<h1>Welcome</h1>')
    })
    await switchTo(page, '/graphql-audits')
    const alert = page.getByRole('alert')
    await runAudits(page, gone.url)
    await alert.getByText(/^The server to audit does not respond at http:.*ECONNREFUSED/).waitFor()
    await runAudits(page, website.url)
    await alert
      .getByText('responded with status 200 OK and an HTML page instead of GraphQL')
      .waitFor()
    removeStatusErrors(visitor, 502)
  })

  await t.test('a rate limit of the server is not reported as a failed audit', async () => {
    await using server = await openServer((request, response) => {
      response.statusCode = isProbe(request) ? 200 : 429
      response.setHeader('content-type', 'application/json').end(goodAnswer)
    })
    // The response for the earlier run arrives late, and must not replace the new run.
    const isOfRun = (url: URL) => /^\/api\/audits\/[^/]+$/.test(url.pathname)
    const failed = Promise.withResolvers<void>()
    let answers = 0
    await page.route(isOfRun, async (route) => {
      const response = await route.fetch()
      answers += 1
      if (answers === 1) await failed.promise
      await route.fulfill({ response })
    })
    await switchTo(page, '/graphql-audits')
    await runAudits(page, server.url)
    const message = page.getByText('The server limits the request rate')
    await message.waitFor()
    const late = page.waitForResponse((response) => isOfRun(new URL(response.url())))
    failed.resolve()
    await (await late).finished()
    await page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame += 1) {
        await new Promise((resolve) => requestAnimationFrame(resolve))
      }
    })
    assert.ok(await message.isVisible())
    await page.unroute(isOfRun)
  })

  await t.test('a run can be stopped, and the number of concurrent runs is limited', async () => {
    await using server = await openServer((request, response) => {
      // The audits never get a response.
      if (isProbe(request)) response.end(goodAnswer)
    })
    await switchTo(page, '/graphql-audits')
    await runAudits(page, server.url)
    await page.getByText('Running.').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Run audits' }).isDisabled())

    const start = () =>
      page.request.post(`${world.consoleUrl}/api/audits`, {
        headers: { 'x-portcullis-console': '1' },
        data: { url: server.url, profile: 'classic', extended: false },
      })
    const started = [await start(), await start(), await start()]
    assert.deepEqual(
      started.map((answer) => answer.status()),
      [201, 201, 201],
    )
    const refused = await start()
    assert.equal(refused.status(), 429)
    assert.equal((await refused.json()).error.code, 'too_many_audits')

    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped after 0 of 61.').waitFor()
    for (const answer of started) {
      const { id } = await answer.json()
      await page.request.delete(`${world.consoleUrl}/api/audits/${id}`, {
        headers: { 'x-portcullis-console': '1' },
      })
    }
  })

  await t.test('a run that a restarted console does not know is not shown as running', async () => {
    await using server = await openServer((request, response) => {
      if (isProbe(request)) response.end(goodAnswer)
    })
    const settings = { host: '127.0.0.1', token: randomUUID(), version: '1.2.3' }
    const first = await openConsole({ ...settings, port: 0 })
    await using watcher = await openVisitor(browser, toPageUrl(first.entryUrl))
    const { page: watched } = watcher
    await runAudits(watched, server.url)
    await watched.getByText('Running.').waitFor()
    await first[Symbol.asyncDispose]()
    await using _second = await openConsole({
      ...settings,
      port: Number(new URL(first.url).port),
    })
    await watched.getByText('Aborted. This audit is no longer available').waitFor()
    assert.ok(await watched.getByRole('button', { name: 'Run audits' }).isEnabled())
    // The console was down for a while, and then did not know the run.
    const isWanted = /ERR_(?:CONNECTION|EMPTY|INCOMPLETE|NETWORK|SOCKET)|status of 404|MIME type/
    for (const browserError of watcher.browserErrors.splice(0)) assert.match(browserError, isWanted)
  })

  await t.test('a query is completed from the schema, sent, and kept in the history', async () => {
    await switchTo(page, '/graphql-audits?view=query')
    const query = editorOf(page, 'GraphQL query')
    const introspected = page.getByRole('tab', { name: 'Schema' })
    await introspected.click()
    await page.getByRole('button', { name: 'Castle', exact: true }).waitFor()
    await fillEditor(query, 'query Castles($country: String) { ')
    await page.keyboard.type('cast')
    await chooseCompletion(page, 'castles')
    await page.keyboard.insertText('(country: $country) { name } }')
    const text = 'query Castles($country: String) { castles(country: $country) { name } }'
    assert.equal(await readEditor(query), text)
    await fillEditor(editorOf(page, 'Variables as JSON'), '{ "country": "Wales" }')
    await page.getByRole('tab', { name: 'Headers' }).click()
    await page.getByLabel('Request headers').fill('Authorization: Bearer very-secret\nX-Team: red')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Status 401').waitFor()
    await page.getByLabel('Request headers').fill('X-Team: red')
    const answering = page.waitForResponse(/\/api\/graphql\/query$/)
    await query.press('ControlOrMeta+Enter')
    const answer = await (await answering).json()
    assert.equal(answer.status, 200, JSON.stringify(answer))
    await page.getByText('Status 200').waitFor()
    await page.getByLabel('Response body').getByText('"name"').first().waitFor()
    await page.getByLabel('Rate limit headers').getByText('ratelimit-remaining').waitFor()

    await fillEditor(query, '{ hello }')
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('button', { name: /query Castles/ }).click()
    assert.equal(await readEditor(query), text)
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }))
    assert.match(stored, /query Castles/)
    assert.doesNotMatch(stored, /very-secret/)
  })

  await t.test(
    'a query is validated against the schema, and wrong variables are explained',
    async () => {
      await switchTo(page, '/graphql-audits?view=query')
      const query = editorOf(page, 'GraphQL query')
      await fillEditor(query, '{ nonsense }')
      await query.locator('.cm-lintRange-error').waitFor()
      await page.getByRole('tab', { name: 'Variables' }).click()
      await fillEditor(editorOf(page, 'Variables as JSON'), '[1]')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('The variables must be a JSON object').waitFor()
    },
  )

  await t.test('a query is sent as a chosen user, whose activity shows it', async () => {
    const email = inventEmail('queried')
    const created = await page.request.post(`${world.consoleUrl}/api/users`, {
      headers: { 'x-portcullis-console': '1' },
      data: { email, email_confirm: true },
    })
    const { id } = await created.json()
    await switchTo(page, '/graphql-audits?view=query')
    await fillEditor(editorOf(page, 'GraphQL query'), '{ me { email } }')
    await page.getByRole('tab', { name: 'Variables' }).click()
    await fillEditor(editorOf(page, 'Variables as JSON'), '{}')
    await page.getByLabel('Send as').fill(email)
    await page.getByRole('list', { name: 'Matching users' }).getByText(email).click()
    const answered = page.waitForResponse(/\/api\/graphql\/query$/)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByLabel('Response body').getByText(`"email": "${email}"`).waitFor()
    assert.doesNotMatch(await (await answered).text(), /eyJ/, 'the token stays on the server')
    assert.deepEqual(await findFaultsOfState(page), [])
    await page.getByRole('button', { name: 'Send anonymously' }).click()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByLabel('Response body').getByText('"me": null').waitFor()
    const audit = await page.request.get(`${world.consoleUrl}/api/users/${id}/audit`, {
      headers: { 'x-portcullis-console': '1' },
    })
    assert.match(await audit.text(), /token_issued/)
  })

  await t.test('the schema is documented, with links between its types', async () => {
    await switchTo(page, '/graphql-audits?view=query')
    await page.getByRole('tab', { name: 'Schema' }).click()
    await page.getByLabel('Search types and fields').fill('built')
    await page.getByRole('button', { name: 'Query', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Castle', exact: true }).click()
    await page.getByText('The year in which construction began.').waitFor()
    await page.getByRole('button', { name: 'All types' }).click()
    await page.getByRole('button', { name: 'Query', exact: true }).click()
    await page.getByText('A greeting for any caller').waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
  })
}
