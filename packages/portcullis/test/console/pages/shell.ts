import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openConsole } from '../../../src/console/console.ts'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import type { RunSuite } from './suite.ts'

export const testShell: RunSuite = async (t, { browser, world }) => {
  // One visitor for most tests, because a new one takes longer than most tests.
  await using visitor = await openVisitor(browser, world.entryUrl, { colorScheme: 'light' })
  const { page } = visitor

  await t.test(
    'every page opens by click and by URL, and loads from its own origin only',
    async () => {
      const foreignUrls: string[] = []
      page.on('request', (request) => {
        const { origin, protocol } = new URL(request.url())
        if (protocol !== 'data:' && protocol !== 'blob:' && origin !== world.consoleUrl) {
          foreignUrls.push(request.url())
        }
      })
      assert.ok(!page.url().includes('token'), 'the token was removed from the URL')
      const links = await page.getByRole('navigation').getByRole('link').all()
      assert.equal(links.length, 9)
      for (const link of links) {
        await link.click()
        await page.getByRole('heading', { level: 1 }).waitFor()
        await link.and(page.locator('[aria-current="page"]')).waitFor()
        await page.reload()
        await page.getByRole('heading', { level: 1 }).waitFor()
      }
      assert.deepEqual(foreignUrls, [])
    },
  )

  await t.test(
    'the navigation can be skipped by keyboard, and the focus follows a page change',
    async () => {
      await page.reload()
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('Tab')
      const focused = page.locator(':focus')
      assert.equal((await focused.textContent())?.trim(), 'Skip to content')
      await page.keyboard.press('Enter')
      assert.equal(await focused.getAttribute('id'), 'content')
      await page.getByRole('link', { name: 'Limits' }).first().focus()
      await page.keyboard.press('Enter')
      await page.waitForURL('**/limits')
      await page.locator('#content:focus').waitFor()
    },
  )

  await t.test('the theme can be changed, and is kept', async () => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await ground()
    const button = page.getByRole('button', { name: /^Theme: / })
    await button.click()
    await button.click()
    const dark = await ground()
    assert.notEqual(dark, light)
    await page.reload()
    await button.waitFor()
    assert.equal(await ground(), dark)
  })

  await t.test('the first page loads at most 150 kB of scripts', async () => {
    await page.goto(world.consoleUrl)
    await page.locator('.chart').first().waitFor()
    const scripts = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter((entry) => entry instanceof PerformanceResourceTiming)
        .filter(({ name }) => name.endsWith('.js'))
        .map(({ name, decodedBodySize }) => ({ name, bytes: decodedBodySize })),
    )
    const bytes = scripts.reduce((sum, script) => sum + script.bytes, 0)
    assert.ok(scripts.length > 0 && bytes > 0 && bytes <= 150_000, `${bytes} bytes`)
    const late = scripts.filter(({ name }) => /\/(?:palette|help|try-page)-/.test(name))
    assert.deepEqual(late, [], 'loaded on demand')
  })

  await t.test('a page that fails shows its error, and the other pages still work', async () => {
    // A response that the page cannot read.
    await page.route(/\/api\/overview\/stream/, (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: 'retry: 3600000\nevent: health\ndata: "not a list"\n\n',
      }),
    )
    await page.goto(world.consoleUrl)
    await page.getByRole('heading', { name: 'Page not shown' }).waitFor()
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor()
    await page.unroute(/\/api\/overview\/stream/)
    await page.getByRole('navigation').getByRole('link', { name: 'Limits' }).click()
    await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click()
    await page.getByText('Live', { exact: true }).waitFor()
  })

  await t.test('a failed page can be tried again, and shows that it is trying', async () => {
    const calls = /\/api\/limits\/rules/
    await page.route(calls, (route) => route.abort())
    await switchTo(page, '/limits')
    const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' })
    await retry.waitFor()
    await page.unroute(calls)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(calls, async (route) => {
      await released
      await route.continue()
    })
    await retry.click()
    await retry.and(page.locator('[aria-busy="true"]')).waitFor()
    release()
    await page.getByRole('searchbox', { name: 'Search rules' }).waitFor()
    await page.unroute(calls)
    for (const error of visitor.browserErrors.splice(0)) assert.match(error, /ERR_FAILED/)
  })

  await t.test('without a token, a styled refusal page is shown', async () => {
    const context = await browser.newContext()
    const refused = await context.newPage()
    const answers: number[] = []
    refused.on('response', (answer) => answers.push(answer.status()))
    await refused.goto(world.consoleUrl)
    await refused.getByRole('heading', { name: 'Access denied' }).waitFor()
    const width = await refused.locator('main').evaluate((main) => getComputedStyle(main).maxWidth)
    assert.equal(width, '544px')
    assert.deepEqual(answers.slice(0, 2), [401, 200])
    await context.close()
  })

  await t.test('a console that stops, or restarts with another token, is reported', async () => {
    const settings = { host: '127.0.0.1', version: '1.2.3' }
    const first = await openConsole({ ...settings, port: 0, token: 'the-first-token' })
    await using watcher = await openVisitor(browser, first.entryUrl)
    const { page: watched } = watcher
    await watched.getByText('Live', { exact: true }).waitFor()
    await first[Symbol.asyncDispose]()
    await watched.getByText('Connection lost').waitFor()
    await watched.getByRole('link', { name: 'Limits' }).first().click()
    await watched.getByText('The page could not be loaded').waitFor()
    await watched.getByRole('link', { name: 'Overview' }).first().click()

    const port = Number(new URL(first.url).port)
    await using _second = await openConsole({ ...settings, port, token: 'the-second-token' })
    await watched.getByRole('alert').getByText('Your access has expired.').waitFor()
    const isWanted = /ERR_(?:CONNECTION|EMPTY|INCOMPLETE|NETWORK|SOCKET)|status of 401/
    for (const browserError of watcher.browserErrors.splice(0)) assert.match(browserError, isWanted)
  })

  for (const host of ['127.0.0.1', 'localhost']) {
    const who = host === 'localhost' ? 'another port of this machine' : 'another site'
    await t.test(`a page of ${who} cannot call, load, frame or read the console`, async () => {
      const server = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>Foreign</title>')
      }).listen(0, host)
      await once(server, 'listening')
      const foreign = await page.context().newPage()
      const statuses = new Set<number>()
      foreign.on('response', (answer) => {
        if (answer.url().startsWith(world.consoleUrl)) statuses.add(answer.status())
      })
      await foreign.goto(`http://${host}:${(server.address() as AddressInfo).port}/`)
      const tries = await foreign.evaluate(attack, world.consoleUrl)
      assert.deepEqual(tries, {
        fetch: 'refused',
        blindFetch: 'refused',
        change: 'refused',
        events: 'refused',
        script: 'refused',
        image: 'refused',
        frame: 'not readable',
        window: 'not readable',
      })
      assert.deepEqual([...statuses], [403])
      const framed = foreign.frames().find((frame) => frame !== foreign.mainFrame())
      assert.ok(!(await framed?.content())?.includes('Portcullis'))
      await foreign.close()
      server.close()
      server.closeAllConnections()
    })
  }
}

/** Tries attacks that a foreign page could attempt; runs in that page. */
async function attack(target: string): Promise<Record<string, string>> {
  const toOutcome = (promise: Promise<unknown>) =>
    promise.then(
      () => 'done',
      () => 'refused',
    )
  const load = (element: HTMLScriptElement | HTMLImageElement | EventSource) =>
    new Promise((done, fail) => {
      element.onerror = fail
      if (element instanceof EventSource) element.onopen = done
      else element.onload = done
    })
  const script = document.createElement('script')
  script.src = `${target}/assets/app.js`
  const image = document.createElement('img')
  image.src = `${target}/assets/mark.svg`
  const frame = document.createElement('iframe')
  frame.src = `${target}/users`
  const framed = new Promise((done) => frame.addEventListener('load', done))
  const scripted = toOutcome(load(script))
  const pictured = toOutcome(load(image))
  document.body.append(script, image, frame)
  const read = (get: () => unknown) => {
    try {
      return get() ? 'readable' : 'not readable'
    } catch {
      return 'not readable'
    }
  }
  await framed
  const opened = window.open(`${target}/api/session`)
  const credentials = 'include'
  const change = { method: 'POST', mode: 'no-cors', credentials, body: '{}' } as const
  const source = new EventSource(`${target}/api/overview/stream`, { withCredentials: true })
  const events = await toOutcome(load(source))
  source.close()
  const tries = {
    fetch: await toOutcome(fetch(`${target}/api/session`, { credentials })),
    blindFetch: await toOutcome(fetch(`${target}/api/session`, { credentials, mode: 'no-cors' })),
    change: await toOutcome(fetch(`${target}/api/users`, change)),
    events,
    script: await scripted,
    image: await pictured,
    frame: read(() => frame.contentDocument),
    window: read(() => opened?.document.body.textContent),
  }
  opened?.close()
  return tries
}
