import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { Page } from 'playwright-core'
import { openConsole } from '../../../src/console/console.ts'
import { openVisitor, turnTo } from '../../support/visitor.ts'
import type { RunSuite } from './suite.ts'
import { takeOutStatuses } from './try-steps.ts'

async function runAudits(page: Page, url?: string): Promise<void> {
  if (url !== undefined) await page.getByLabel('Address of the server').fill(url)
  await page.getByRole('button', { name: 'Run the audits' }).click()
}

/** Another server to audit. */
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

  await t.test('our own API complies in full, and its limits do not count the audits', async () => {
    const countLeft = async () => {
      const answer = await fetch(`${world.baseUrls.graphql}/graphql?query={hello}`)
      return Number(answer.headers.get('ratelimit-remaining'))
    }
    await page.getByText('Its limits do not count the audits.').waitFor()
    const before = await countLeft()
    await runAudits(page)
    await page.getByText('Complies in full. All 61 audits pass.').waitFor()
    assert.ok((await countLeft()) >= before - 1)

    const opened = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'Open the report' }).click()
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

    // The run is still there.
    await page.reload()
    await page.getByText('Complies in full. All 61 audits pass.').waitFor()
  })

  await t.test('what fails is shown first, with reason, request and response', async () => {
    const seen = new Set<string | undefined>()
    await using server = await openServer((request, response) => {
      seen.add(request.headers.authorization)
      response.setHeader('content-type', 'text/plain').end(goodAnswer)
    })
    await turnTo(page, '/graphql-audits')
    await page.getByText('Headers and stricter audits').click()
    await page.getByLabel('Headers to send').fill('Authorization: Bearer very-secret')
    await page.getByLabel('Add stricter variants').check()
    await runAudits(page, server.url)
    await page.getByText('Does not comply.', { exact: true }).waitFor()
    assert.deepEqual([...seen], ['Bearer very-secret'])

    const required = page.getByRole('region', { name: 'Required' })
    const failed = required.getByRole('listitem').first()
    await failed.getByText('Request and response (200)').click()
    await failed.getByText('content-type: text/plain').waitFor()
    await page.getByLabel('Filter the audits').fill('no audit says this')
    await page.getByText('No audit that has ended has').waitFor()
    await page.getByLabel('Filter the audits').fill('post')
    const names = await required.getByRole('listitem').allTextContents()
    assert.ok(names.length > 0)
    assert.ok(names.every((name) => /post/i.test(name)))
    assert.doesNotMatch(await page.content(), /very-secret/)
  })

  await t.test('an address where no GraphQL is found is told once, at once', async () => {
    const gone = await openServer(() => {})
    await gone[Symbol.asyncDispose]()
    await using website = await openServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<h1>Welcome</h1>')
    })
    await turnTo(page, '/graphql-audits')
    const alert = page.getByRole('alert')
    await runAudits(page, gone.url)
    await alert.getByText(/^The server to audit does not answer at http:.*ECONNREFUSED/).waitFor()
    await runAudits(page, website.url)
    await alert.getByText('answered 200 OK with an HTML page instead of GraphQL').waitFor()
    takeOutStatuses(visitor, 502)
  })

  await t.test('a server that limits requests is not blamed for its GraphQL', async () => {
    await using server = await openServer((request, response) => {
      response.statusCode = isProbe(request) ? 200 : 429
      response.setHeader('content-type', 'application/json').end(goodAnswer)
    })
    // The earlier run that the page loads first comes late, and must not replace the new one.
    const isOfRun = (url: URL) => /^\/api\/audits\/[^/]+$/.test(url.pathname)
    const failed = Promise.withResolvers<void>()
    let answers = 0
    await page.route(isOfRun, async (route) => {
      const response = await route.fetch()
      answers += 1
      if (answers === 1) await failed.promise
      await route.fulfill({ response })
    })
    await turnTo(page, '/graphql-audits')
    await runAudits(page, server.url)
    const message = page.getByText('The server limits requests.')
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

  await t.test('a run can be stopped, and only so many run at once', async () => {
    await using server = await openServer((request, response) => {
      // The audits wait for ever.
      if (isProbe(request)) response.end(goodAnswer)
    })
    await turnTo(page, '/graphql-audits')
    await runAudits(page, server.url)
    await page.getByText('Running.').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Run the audits' }).isDisabled())

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

  await t.test(
    'a run that a restarted console knows nothing of is not shown for ever',
    async () => {
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
      await watched.getByText('Cut short. The console has forgotten this audit').waitFor()
      assert.ok(await watched.getByRole('button', { name: 'Run the audits' }).isEnabled())
      // Nobody answered for a while, and then not with this run.
      const isWanted = /ERR_(?:CONNECTION|EMPTY|INCOMPLETE|NETWORK|SOCKET)|status of 404|MIME type/
      for (const complaint of watcher.complaints.splice(0)) assert.match(complaint, isWanted)
    },
  )
}
