import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Response as PageResponse, Request } from 'playwright-core'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import type { TestWorld } from '../../support/world.ts'
import { addManyUsers, removeManyUsers, runSql, toSeededEmail } from '../users-database.ts'
import type { RunSuite } from './suite.ts'

const password = 'correct horse battery staple'

/** All tests share one visitor and the same users: each test continues where the previous one ended. */
export const testUsers: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl.replace('/?', '/users?'))
  const { page, browserErrors } = visitor
  const run = (name: string, act: () => Promise<void>) =>
    t.test(name, async () => {
      await act()
      assert.deepEqual(browserErrors, [])
    })
  const mark = Math.random().toString(36).slice(2, 8)
  const email = `ada-${mark}@example.org`
  const phone = `1555${Math.random().toFixed(7).slice(2)}`

  await run('a user is created, found by search, and has a URL', async () => {
    await openUsers(page)
    await page.getByRole('button', { name: 'Create user' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('Enter an email address or a phone number.').waitFor()
    await dialog.getByLabel('Email').fill(email)
    await dialog.getByLabel('Phone').fill(`+1 555 ${phone.slice(4)}`)
    await dialog.getByLabel('Full name').fill('Ada Lovelace')
    await dialog.getByLabel('Password').fill(password)
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: email }).waitFor()
    await page.getByRole('row', { name: email }).waitFor()

    await switchTo(page, '/users')
    const search = page.getByLabel('Search users')
    await search.fill(`ADA-${mark} `)
    await page.getByText(/^1 user matching/).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('q'), `ADA-${mark}`)
    assert.equal(
      await search.inputValue(),
      `ADA-${mark} `,
      'the space before the next word is kept',
    )
    await page.reload()
    await page.getByText(/^1 user matching/).waitFor()
    await page.getByRole('row', { name: email }).click()
    await page.getByRole('heading', { name: email }).waitFor()
    const id = new URL(page.url()).searchParams.get('id') ?? ''
    assert.match(id, /^[\da-f-]{36}$/)

    for (const part of [
      id.slice(0, 8),
      phone.slice(4),
      `+${phone.slice(0, 1)} ${phone.slice(1)}`,
    ]) {
      await page.getByLabel('Search users').fill(part)
      await page.getByText(`1 user matching “${part}”`).waitFor()
      await page.getByRole('row', { name: email }).waitFor()
    }
    await page.goto(`${world.consoleUrl}/users?q=${id}`)
    await page.getByText(/^1 user matching/).waitFor()
    await page.getByRole('link', { name: email }).click()
    await page.reload()
    await page.getByRole('heading', { name: email }).waitFor()
  })

  await run('the list can be navigated by keyboard', async () => {
    await openUsers(page)
    await page.getByRole('grid').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    assert.equal(await page.evaluate(countRings), 1)
    await page.getByLabel('Search users').focus()
    const search = await page.getByLabel('Search users').evaluate((input) => {
      const { outlineOffset, outlineWidth, borderColor, outlineColor } = getComputedStyle(input)
      return { outlineOffset, outlineWidth, isOneColour: borderColor === outlineColor }
    })
    assert.deepEqual(search, { outlineOffset: '-1px', outlineWidth: '2px', isOneColour: true })
    await page.getByRole('grid').focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await page.getByRole('tablist').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('tablist').waitFor({ state: 'detached' })
    assert.equal(new URL(page.url()).searchParams.get('id'), null)
    assert.equal(await page.getByRole('grid').evaluate((grid) => grid.matches(':focus')), true)
  })

  await run(
    'metadata can be edited, and a syntax error is shown with line and column',
    async () => {
      await openUser(page, email)
      const editor = page.getByLabel('User metadata', { exact: true })
      await editor.fill('{\n  "full_name": "Ada King"\n  "title": "Countess"\n}')
      await page.getByRole('button', { name: 'Save User metadata' }).click()
      await page.getByText('Line 3, column 3: expected a comma or }').waitFor()
      assert.equal(await editor.getAttribute('aria-invalid'), 'true')
      await editor.fill('{"title": "Countess", "born": 1815}')
      await page.getByRole('button', { name: 'Save User metadata' }).click()
      await page.getByText('User metadata saved.').waitFor()
      await page.reload()
      await page.getByRole('tablist').waitFor()
      const saved = JSON.parse(await editor.inputValue())
      // The removed key is gone; other keys may have been added by the server.
      assert.deepEqual([saved.title, saved.born, saved.full_name], ['Countess', 1815, undefined])
    },
  )

  await run('sessions are listed, and can be revoked individually or all at once', async () => {
    for (let count = 0; count < 3; count++) assert.equal((await signIn(world, email)).status, 200)
    await openUser(page, email)
    await page.getByRole('tab', { name: 'Sessions' }).click()
    const sessions = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
    await sessions.first().waitFor()
    assert.equal(await sessions.count(), 3)
    assert.match(await sessions.first().innerText(), /Firefox on Windows.*127\.0\.0\.1/s)
    await sessions
      .first()
      .getByRole('button', { name: /^Revoke/ })
      .click()
    await page.getByText('Session revoked.').waitFor()
    await sessions.nth(2).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Revoke all' }).click()
    await page.getByText('No active sessions').waitFor()
  })

  await run('second factors are listed and can be removed', async () => {
    const { access_token: token } = await (await signIn(world, email)).json()
    const enroll = () =>
      fetch(`${world.baseUrls.auth}/factors`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ factor_type: 'totp', friendly_name: 'My phone' }),
      })
    assert.equal((await enroll()).status, 200)
    await openUser(page, email)
    await page.getByRole('tab', { name: 'Sign-in' }).click()
    const factors = page.getByRole('region', { name: 'Second factors' })
    await factors.getByText('Unverified').waitFor()
    await factors.getByRole('button', { name: 'Remove My phone' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await factors.getByText('No second factors').waitFor()
    const reset = page.getByRole('button', { name: 'Reset factors…' })
    await reset.waitFor({ state: 'detached' })

    assert.equal((await enroll()).status, 200)
    await openUser(page, email)
    await page.getByRole('tab', { name: 'Sign-in' }).click()
    await reset.click()
    await page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'My phone' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
    await page.getByText('1 second factor removed.').waitFor()
    await factors.getByText('No second factors').waitFor()
    await reset.waitFor({ state: 'detached' })
  })

  await run('a second factor that was removed meanwhile does not fail a reset', async () => {
    const { access_token: token } = await (await signIn(world, email)).json()
    for (const name of ['My phone', 'My tablet']) {
      const enrolled = await fetch(`${world.baseUrls.auth}/factors`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ factor_type: 'totp', friendly_name: name }),
      })
      assert.equal(enrolled.status, 200)
    }
    await openUser(page, email)
    await page.getByRole('button', { name: 'Reset factors…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('listitem').filter({ hasText: 'My tablet' }).waitFor()
    await runSql(world, `delete from auth.mfa_factors where friendly_name = 'My phone'`)
    await dialog.getByRole('button', { name: 'Reset' }).click()
    await page.getByText('2 second factors removed.').waitFor()
    await dialog.waitFor({ state: 'detached' })
    takeRefusal(browserErrors, 404)
    await openUser(page, email)
    await page.getByRole('tab', { name: 'Sign-in' }).click()
    await page.getByRole('region', { name: 'Second factors' }).getByText('No second').waitFor()
  })

  await run('a banned user cannot sign in until the ban is lifted', async () => {
    await openUser(page, email)
    await page.getByRole('button', { name: 'Ban…' }).click()
    // The permanent ban is listed without a date.
    await page.getByRole('dialog').getByLabel('Permanently').waitFor()
    assert.equal(
      await page
        .getByRole('dialog')
        .getByText(/^until \d/)
        .count(),
      5,
    )
    await page.getByRole('dialog').getByLabel('One week').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Ban' }).click()
    await page.getByRole('row', { name: email }).getByText('Banned').waitFor()
    const ban = /until \d+ \w+ \d{4}, [\d:]+ by portcullis-console \(service_role\)/
    await page.getByText(ban).waitFor()
    assert.match(await (await signIn(world, email)).text(), /user_banned/)
    await page.getByRole('button', { name: 'Lift ban' }).click()
    await page.getByRole('button', { name: 'Ban…' }).waitFor()
    assert.equal((await signIn(world, email)).status, 200)
  })

  await run('a generated link signs in', async () => {
    await openUser(page, email)
    await page.getByRole('button', { name: 'Generate link…' }).click()
    await page.getByRole('button', { name: 'Generate', exact: true }).click()
    const link = await page.getByLabel('Link', { exact: true }).innerText()
    assert.match(
      await page.getByLabel('One-time code (instead of the link)').innerText(),
      /^\d{6}$/,
    )
    const answer = await fetch(link, { redirect: 'manual' })
    assert.match(answer.headers.get('location') ?? '', /#.*access_token=/)
  })

  await run(
    'the activity of a user lists their own actions and those of administrators',
    async () => {
      const entries = page.getByRole('list', { name: 'Activity' }).getByRole('listitem')
      const readTexts = async () => {
        await openUser(page, email)
        await page.getByRole('tab', { name: 'Activity' }).click()
        await entries.first().waitFor()
        return (await entries.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
      }
      const isRefusal = (text: string) => text.startsWith('Failed to sign in: banned')
      let texts = await readTexts()
      // Failed sign-ins are written after the response, several at a time.
      while (!texts.some(isRefusal)) texts = await readTexts()
      assert.match(texts[0] ?? '', /^Signed in/)
      assert.match(texts.at(-1) ?? '', /^The account was created by service_role/)
      assert.ok(texts.some((text) => text.startsWith('The ban was lifted by portcullis-console')))
      assert.ok(texts.some((text) => /^Banned until \d+ \w+ \d{4}, /.test(text)))
      const times = await entries
        .locator('time')
        .evaluateAll((all) => all.map((time) => Date.parse(time.getAttribute('datetime') ?? '')))
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      )
      for (const sentence of [
        'A sign-in or recovery link was generated',
        'A session was revoked',
      ]) {
        assert.ok(
          texts.some((text) => text.startsWith(`${sentence} by service_role`)),
          sentence,
        )
      }
    },
  )

  await run(
    'errors of the auth server are shown, and an invited user appears in the list',
    async () => {
      await openUsers(page)
      const invited = `grace-${mark}@example.org`
      await page.getByRole('button', { name: 'Create user' }).click()
      await page.getByRole('dialog').getByLabel('Email').fill(email)
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
      await page
        .getByRole('alert')
        .getByText(/already/)
        .waitFor()
      takeRefusal(browserErrors, 422)
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Invite user' }).click()
      await page.getByRole('dialog').getByLabel('Email').fill(invited)
      await page.getByRole('button', { name: 'Send invitation' }).click()
      await page.getByRole('heading', { name: invited }).waitFor()
      await page.getByRole('row', { name: invited }).getByText('Invited').waitFor()
      await deleteOpenUser(page, 'Personal data only')
      await page.getByRole('row', { name: invited }).waitFor({ state: 'detached' })
    },
  )

  await run('a deleted user is gone', async () => {
    await openUser(page, email)
    const id = new URL(page.url()).searchParams.get('id')
    await deleteOpenUser(page, 'Everything')
    await page.getByText('No users match').waitFor()
    await switchTo(page, `/users?id=${id}`)
    await page.getByText('User not found').waitFor()
    takeRefusal(browserErrors, 404)
    assert.equal((await signIn(world, email)).status, 400)
  })

  await run(
    'failed sign-ins have phone numbers with a plus sign, and the last page says so',
    async () => {
      const failure = {
        ...{ user_id: null, name: '15550100200', reason: 'wrong_password', count: 1 },
        ...{ ip_address: '203.0.113.5', first_at: new Date(), last_at: new Date() },
      }
      const full = Array.from({ length: 50 }, (_, id) => ({ ...failure, id: `${id}` }))
      const path = '**/api/users/sign-in-failures?*'
      await page.route(path, (route) => {
        const isFirst = new URL(route.request().url()).searchParams.get('page') === '1'
        return route.fulfill({ json: isFirst ? full : [] })
      })
      await switchTo(page, '/users?view=failures')
      const phones = page.getByRole('cell', { name: '+15550100200' })
      await phones.nth(49).waitFor()
      await page.getByRole('button', { name: 'Older' }).click()
      await page.getByRole('heading', { name: 'No older failed sign-ins' }).waitFor()
      await page.getByRole('button', { name: 'Newer' }).click()
      await phones.nth(49).waitFor()
      await page.unroute(path)
    },
  )

  await run('five thousand users can be scrolled with few rows and few calls', async () => {
    const domain = `${mark}.example.com`
    const count = 5_000
    await addManyUsers(world, { count, domain })
    try {
      const calls: string[] = []
      const note = (request: Request) => {
        if (new URL(request.url()).pathname === '/api/users') calls.push(request.url())
      }
      page.on('request', note)
      await openUsers(page)
      const summary = await page.getByText(/users in total/).innerText()
      const total = Number.parseInt(summary.replace(',', ''), 10)
      const list = page.locator('.user-list')
      const toEmail = (number: number) => toSeededEmail(number, { domain })
      for (const part of [0.5, 0.25, 1]) {
        await list.evaluate((element, at) => {
          element.scrollTop = (element.scrollHeight - element.clientHeight) * at
        }, part)
        // All other users are newer and come first, followed by the seeded users in descending order.
        const index = Math.round((total - 1) * part)
        await page.getByRole('row', { name: toEmail(total - index) }).waitFor()
        assert.ok((await page.getByRole('row').count()) < 60)
      }
      page.off('request', note)
      assert.ok(calls.length < 20, `${calls.length} calls`)
      await page.getByRole('button', { name: /^Created/ }).click()
      await page.getByRole('row', { name: toEmail(1) }).waitFor()
    } finally {
      await removeManyUsers(world, domain)
    }
  })

  await run(
    'the key never reaches the browser, and only the listed endpoints are reachable',
    async () => {
      const seen: Promise<string>[] = []
      const watch = (response: PageResponse) => seen.push(readAll(response))
      page.on('response', watch)
      await page.goto(`${world.consoleUrl}/users`)
      await page.getByRole('row').nth(1).click()
      for (const [name, path] of [
        ['Sign-in', '/passkeys'],
        ['Sessions', '/sessions'],
        ['Activity', '/audit'],
      ] as const) {
        const answered = page.waitForResponse((response) => response.url().endsWith(path))
        await page.getByRole('tab', { name }).click()
        await answered
      }
      page.off('response', watch)
      const secrets: Record<string, string> = JSON.parse(
        readFileSync(join(world.folder, 'secrets.json'), 'utf8'),
      )
      const texts = await Promise.all(seen)
      assert.ok(texts.length > 5)
      for (const text of texts) {
        assert.doesNotMatch(text, /eyJ[\w-]{10,}\.[\w-]+\.[\w-]+/)
        assert.ok(!text.includes(secrets['jwtSecret'] ?? 'no secret'))
      }
      const someId = '00000000-0000-4000-8000-000000000000'
      for (const [method, path] of [
        ['GET', '/api/users/settings'],
        ['POST', `/api/users/${someId}`],
        ['PUT', `/api/users/${someId}/factors/${someId}`],
        ['GET', '/api/users/%2e%2e/audit'],
        ['GET', `/api/users/${someId}%2f..%2f..`],
        ['DELETE', '/api/users'],
      ] as const) {
        const answer = await page.request.fetch(world.consoleUrl + path, {
          method,
          headers: { 'x-portcullis-console': '1', accept: 'application/json' },
        })
        assert.equal(answer.status(), 404, `${method} ${path}`)
      }
    },
  )
}

/** Runs in the page. Counts the elements of the list that show a focus ring. */
function countRings(): number {
  const parts = [...document.querySelectorAll('.user-list, .user-list *')]
  return parts.filter((part) => {
    const { outlineStyle, boxShadow } = getComputedStyle(part)
    return outlineStyle !== 'none' || boxShadow !== 'none'
  }).length
}

async function readAll(response: PageResponse): Promise<string> {
  const headers = await response.allHeaders()
  // An event stream ends with the page, and a redirect has no body.
  const isWhole = response.ok() && !headers['content-type']?.startsWith('text/event-stream')
  const body = isWhole ? await response.text() : ''
  return JSON.stringify(headers) + body
}

async function openUsers(page: Page): Promise<void> {
  await switchTo(page, '/users')
  await page.getByRole('grid').or(page.getByText('No users yet')).waitFor()
}

async function openUser(page: Page, email: string): Promise<void> {
  await switchTo(page, `/users?q=${encodeURIComponent(email)}`)
  await page.getByRole('link', { name: email }).click()
  await page.getByRole('tablist').waitFor()
}

async function deleteOpenUser(page: Page, kind: string): Promise<void> {
  await page.getByRole('button', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(kind).check()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.waitFor({ state: 'detached' })
}

function signIn({ baseUrls }: TestWorld, email: string): Promise<Response> {
  return fetch(`${baseUrls.auth}/token?grant_type=password`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/140.0',
    },
    body: JSON.stringify({ email, password }),
  })
}

/** Removes the browser's message about a response that the test expects. */
function takeRefusal(browserErrors: string[], status: number): void {
  assert.equal(browserErrors.length, 1)
  assert.match(browserErrors.pop() ?? '', new RegExp(`status of ${status}`))
}
