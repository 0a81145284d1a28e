import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { MailboxListing } from '../../../src/console/routes/mailbox.ts'
import { listenOn } from '../../../src/mailbox/listen.ts'
import { createSender, toMail } from '../../mailbox/open-test-mailbox.ts'
import { openVisitor, switchTo, waitForClipboard } from '../../support/visitor.ts'
import type { TestWorld } from '../../support/world.ts'
import type { RunSuite } from './suite.ts'

/** Opens the page with an empty mailbox. */
async function startOver(page: Page, call: CallConsole): Promise<MailboxListing> {
  await call('/api/mailbox/messages', 'DELETE')
  const listing: MailboxListing = await (await call('/api/mailbox/messages')).json()
  await switchTo(page, '/mailbox')
  await page.getByRole('heading', { name: 'No messages yet' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  return listing
}

type CallConsole = (path: string, method?: string) => Promise<Response>

/** Calls the console without a browser. */
async function openApi({ entryUrl, consoleUrl }: TestWorld): Promise<CallConsole> {
  const entry = await fetch(entryUrl, { redirect: 'manual' })
  const [cookie = ''] = entry.headers.get('set-cookie')?.split(';') ?? []
  return (path, method = 'GET') =>
    fetch(consoleUrl + path, { method, headers: { cookie, 'x-portcullis-console': '1' } })
}

function getItems(page: Page) {
  return page.getByRole('list', { name: 'Messages' }).getByRole('button')
}

/** A server that records every connection. */
async function openRecorder() {
  const visits: (string | undefined)[] = []
  const server = createServer((request, response) => {
    visits.push(request.url)
    response.end()
  })
  server.on('connection', () => visits.push('connected'))
  const address = await listenOn(server, '127.0.0.1', 0)
  return {
    url: `http://${address}`,
    visits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

async function signUp({ baseUrls }: TestWorld, email: string): Promise<void> {
  const answer = await fetch(`${baseUrls.auth}/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'correct horse battery' }),
  })
  assert.equal(answer.status, 200)
}

interface Box {
  readonly x: number
  readonly width: number
}

/** Whether two elements beside each other do not overlap. */
function isApart(left: Box | null, right: Box | null): boolean {
  return left !== null && right !== null && left.x + left.width <= right.x
}

export const testMailbox: RunSuite = async (t, { browser, world }) => {
  const call = await openApi(world)
  // Other suites leave messages. If they were deleted while the page opens, the browser would report a missing frame.
  await call('/api/mailbox/messages', 'DELETE')
  await using visitor = await openVisitor(browser, world.entryUrl.replace('/?', '/mailbox?'), {
    viewport: { width: 1280, height: 860 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const { page, browserErrors } = visitor

  await t.test(
    'a confirmation mail appears without a reload; its link signs in on the page Try it',
    async () => {
      await startOver(page, call)
      await signUp(world, 'arrival@example.com')

      await getItems(page).getByText('arrival@example.com').first().waitFor()
      const reader = page.getByRole('article')
      await reader.getByText('Portcullis <auth@portcullis.example>').waitFor()
      const frame = page.frameLocator('iframe')
      await frame.getByRole('heading', { name: 'Confirm your signup' }).waitFor()
      const code = await reader
        .getByRole('region', { name: 'One-time code' })
        .locator('code')
        .innerText()
      assert.match(code, /^\d{6}$/)
      await reader.getByRole('button', { name: 'Copy code' }).click()
      await waitForClipboard(page, code)
      await page.getByRole('main').getByText('Unread').waitFor({ state: 'detached' })

      await reader.getByRole('link', { name: 'Open link' }).click()
      await page.waitForURL(`${world.consoleUrl}/try**`)
      await page.getByRole('heading', { level: 1 }).waitFor()
    },
  )

  await t.test('one-time codes by SMS and WhatsApp arrive too', async () => {
    const listing = await startOver(page, call)
    const { smsSecret } = JSON.parse(readFileSync(join(world.folder, 'secrets.json'), 'utf8'))
    for (const [channel, title] of [
      ['sms', 'SMS message'],
      ['whatsapp', 'WhatsApp message'],
    ] as const) {
      const answer = await fetch(listing.smsUrl, {
        method: 'POST',
        headers: { authorization: `Bearer ${smsSecret}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          to: '+15550100',
          message: `Your code is 246810, by ${channel}`,
          code: '246810',
          channel,
        }),
      })
      assert.equal(answer.status, 200)
      await page.getByRole('heading', { name: title }).waitFor()
      const text = await page.getByRole('article').innerText()
      assert.match(text, new RegExp(`Your code is 246810, by ${channel}`))
      assert.match(text, /246810\n/)
    }
    assert.equal(await getItems(page).count(), 2)
  })

  await t.test(
    'a message that was deleted while its frame loads is reported in the frame',
    async () => {
      const answer = await call('/api/mailbox/messages/deleted/html')
      assert.equal(answer.status, 404)
      assert.match(answer.headers.get('content-security-policy') ?? '', /frame-ancestors 'self'/)
      assert.match(await answer.text(), /The message no longer exists\./)
    },
  )

  await t.test('untrusted HTML cannot run scripts, load resources or navigate', async () => {
    const listing = await startOver(page, call)
    assert.deepEqual(browserErrors, [])
    await using recorder = await openRecorder()
    const before = page.url()
    const out = `${recorder.url}/stolen`
    await createSender(listing.smtpAddress).sendMail(
      toMail('Harmless', {
        html: `<!doctype html><html><head><meta http-equiv="refresh" content="0;url=${out}">
          <base href="${out}/"><link rel="stylesheet" href="${out}.css">
          <link rel="preconnect" href="${recorder.url}">
          <script src="${out}.js"></script><script>parent.document.title = 'stolen'</script></head>
          <body onload="document.title = 'stolen'">
          <img src="${out}.png" onerror="parent.document.title = 'stolen'">
          <svg onload="top.location = '${out}'"></svg><iframe src="${out}"></iframe>
          <form action="${out}"><button>Send</button></form>
          <a href="${out}">Away</a> <a href="${out}" target="_top">Up</a>
          <a href="javascript:top.document.title='stolen'">Script</a><p id="shown">Read me</p>`,
      }),
    )
    const frame = page.frameLocator('iframe')
    await frame.getByText('Read me').waitFor()
    await frame.getByRole('button', { name: 'Send' }).click()
    for (const name of ['Away', 'Up', 'Script']) await frame.getByRole('link', { name }).click()
    // Any effect would have happened by the time these views have rendered.
    await page.getByRole('tab', { name: 'Text' }).click()
    await page.getByRole('tab', { name: 'HTML' }).click()
    await frame.getByText('Read me').waitFor()

    assert.equal(await page.title(), 'Mailbox · Portcullis')
    assert.equal(page.url(), before)
    assert.equal(page.context().pages().length, 1)
    assert.deepEqual(recorder.visits, [])
    const [message] = (await (await call('/api/mailbox/messages')).json()).messages
    const html = await call(`/api/mailbox/messages/${message.id}/html`)
    const policy = html.headers.get('content-security-policy') ?? ''
    assert.deepEqual(policy.split('; ').slice(0, 3), [
      "default-src 'none'",
      "style-src 'unsafe-inline'",
      'img-src data:',
    ])
    assert.ok(policy.endsWith('; sandbox'))
    // The browser reports what it blocked.
    assert.ok(browserErrors.length > 0)
    for (const browserError of browserErrors)
      assert.match(browserError, /block|refus|violat|sandbox/i)
    browserErrors.length = 0
  })

  await t.test('the list can be searched, navigated by keyboard, and cleared', async () => {
    const listing = await startOver(page, call)
    const sender = createSender(listing.smtpAddress)
    for (const name of ['one', 'two', 'three']) {
      await sender.sendMail(
        toMail(`Number ${name}`, {
          to: `${name}@example.com`,
          attachments: [{ filename: 'a.txt', content: name }],
        }),
      )
    }
    await getItems(page).nth(2).waitFor()
    const heading = (name: string) => page.getByRole('heading', { level: 2, name })

    await getItems(page).first().focus()
    await page.keyboard.press('ArrowDown')
    await heading('Number two').waitFor()
    await page.keyboard.press('End')
    await heading('Number one').waitFor()
    await page.reload()
    await heading('Number one').waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'a.txt' }).click()
    assert.equal(readFileSync(await (await download).path(), 'utf8'), 'one')

    await page.getByRole('searchbox').fill('TWO@')
    await heading('Number two').waitFor()
    assert.equal(await getItems(page).count(), 1)
    await page.getByRole('searchbox').fill('no-match')
    await heading('No matching messages').waitFor()
    await page.getByRole('searchbox').fill('')
    await heading('Number three').waitFor()

    await getItems(page).first().focus()
    await page.keyboard.press('Delete')
    await heading('Number two').waitFor()
    await page.getByRole('button', { name: 'Clear mailbox' }).click()
    await page.getByRole('dialog').getByText('All 2 messages').waitFor()
    await page.getByRole('button', { name: 'Delete all' }).click()
    await heading('No messages yet').waitFor()
  })

  await t.test(
    'a response that arrives after the user left does not bring the user back',
    async () => {
      const listing = await startOver(page, call)
      await createSender(listing.smtpAddress).sendMail(toMail('Old'))
      await page.locator('.mail').waitFor()
      // The notice of an earlier deletion.
      const notice = page.getByText('Message deleted.')
      await notice.waitFor({ state: 'detached' })
      const isDeletion = /\/api\/mailbox\/messages\/[^/]+$/
      const left = Promise.withResolvers<void>()
      await page.route(isDeletion, async (route) => {
        if (route.request().method() === 'DELETE') await left.promise
        await route.continue()
      })
      await page.locator('.mail').getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('navigation').getByRole('link', { name: 'Users' }).click()
      await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
      left.resolve()
      await notice.waitFor()
      assert.equal(await page.evaluate(() => location.pathname), '/users')
      await page.unroute(isDeletion)
    },
  )

  await t.test(
    'only a long list scrolls, not the page, and the unread count overlaps nothing in a narrow window',
    async () => {
      const listing = await startOver(page, call)
      const sender = createSender(listing.smtpAddress)
      for (let number = 1; number <= 23; number += 1)
        await sender.sendMail(toMail(`Mail ${number}`))
      await getItems(page).nth(22).waitFor()
      const overhang = await page.evaluate(
        () => document.documentElement.scrollHeight - innerHeight,
      )
      assert.equal(overhang, 0, 'the page scrolls below its end')
      await getItems(page).nth(22).scrollIntoViewIfNeeded()
      assert.ok(await getItems(page).nth(22).isVisible())

      await page.setViewportSize({ width: 390, height: 844 })
      const link = page.getByRole('navigation').getByRole('link', { name: /^Mailbox/ })
      const count = link.locator('.count')
      const next = page.getByRole('navigation').getByRole('link', { name: 'Limits' })
      assert.ok(isApart(await count.boundingBox(), await link.locator('.label').boundingBox()))
      assert.ok(isApart(await count.boundingBox(), await next.boundingBox()))
      await page.setViewportSize({ width: 1280, height: 860 })
    },
  )

  await t.test(
    'a narrow window shows the message below the list, without horizontal scrolling',
    async () => {
      await page.setViewportSize({ width: 390, height: 844 })
      const listing = await startOver(page, call)
      const long = 'https://example.com/'.padEnd(400, 'x')
      await createSender(listing.smtpAddress).sendMail(
        toMail(`Long ${'word'.repeat(60)}`, { text: `Go:\n${long}\n` }),
      )
      await page.getByRole('link', { name: 'Open link' }).waitFor()
      const [width, list, reader] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.querySelector('.mailbox-list')?.getBoundingClientRect().bottom ?? 0,
        document.querySelector('.mail')?.getBoundingClientRect().top ?? 0,
      ])
      assert.equal(width, 390)
      assert.ok(Number(reader) >= Number(list))
    },
  )
}
