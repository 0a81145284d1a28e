import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import type { RunSuite } from './suite.ts'

/** A step is a click, a shortcut, or a text, with or without Enter. */
const mostSteps = 4

/** Each task of the table "Common tasks" in docs/portcullis.md, from the page Overview. */
export const testCommonTasks: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl, {
    viewport: { width: 1280, height: 860 },
  })
  const { page } = visitor
  const mark = Math.random().toString(36).slice(2, 8)
  const ada = await createUser('ada')
  const grace = await createUser('grace')

  async function call(path: string, data: object) {
    const answer = await page.request.post(world.consoleUrl + path, {
      headers: { 'x-portcullis-console': '1' },
      data,
    })
    assert.ok(answer.ok(), await answer.text())
    return await answer.json()
  }

  async function createUser(name: string) {
    const email = `${name}-${mark}@tasks.example`
    const password = 'correct horse battery staple'
    const phone = `+1555${String(Date.now()).slice(-7)}${name.length}`
    const user = { email, phone, password, email_confirm: true, phone_confirm: true }
    const { id } = await call('/api/users', user)
    return { id: `${id}`, email, phone, password }
  }

  async function signIn({ email, password }: { email: string; password: string }) {
    const answer = await fetch(`${world.baseUrls.auth}/token?grant_type=password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
    const body: { access_token?: string; error_code?: string } = await answer.json()
    return body.error_code ?? body.access_token ?? ''
  }

  async function hit(tenant: string, hitsAddend: number) {
    const entries = [
      { key: 'tenant', value: `${tenant}-${mark}` },
      { key: 'operation', value: 'export' },
    ]
    const answer = await fetch(`${world.baseUrls.ratelimit}/json`, {
      method: 'POST',
      body: JSON.stringify({ domain: 'api', descriptors: [{ entries }], hitsAddend }),
    })
    const { overallCode }: { overallCode?: string } = await answer.json()
    return overallCode
  }

  /** Runs a task, and then checks its result. */
  async function task(name: string, steps: readonly Step[], check: () => Promise<void>) {
    await t.test(name, async () => {
      assert.ok(steps.length <= mostSteps, `${steps.length} steps`)
      await switchTo(page, '/')
      for (const step of steps) await step(page)
      await check()
    })
  }

  for (const part of [grace.email.slice(0, 9), grace.phone.slice(1), grace.id.slice(0, 8)]) {
    await task(`find a user by ${part}`, [goTo('Users'), search(part)], () =>
      page.getByRole('row', { name: grace.email }).waitFor(),
    )
  }

  assert.equal(await signIn({ ...grace, password: 'x' }), 'invalid_credentials')
  await task(
    'find out why a sign-in failed',
    [goTo('Events'), type((shown) => shown.getByRole('searchbox').first(), grace.email)],
    () => page.getByText('Failed to sign in: wrong password').first().waitFor(),
  )

  await task(
    'ban a user',
    [
      goTo('Users'),
      search(grace.email),
      click((shown) => shown.getByRole('button', { name: `Ban ${grace.email}`, exact: true })),
      confirm('Ban'),
    ],
    async () => {
      await page.getByRole('row', { name: grace.email }).getByText('Banned').waitFor()
      assert.equal(await signIn(grace), 'user_banned')
    },
  )

  await task(
    'delete a user',
    [
      goTo('Users'),
      search(grace.email),
      click((shown) => shown.getByRole('button', { name: `Delete ${grace.email}`, exact: true })),
      confirm('Delete'),
    ],
    async () => {
      await page.getByRole('row', { name: grace.email }).waitFor({ state: 'detached' })
      assert.equal(await signIn(grace), 'invalid_credentials')
    },
  )

  const token = await signIn(ada)
  const enrolled = await fetch(`${world.baseUrls.auth}/factors`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ factor_type: 'totp' }),
  })
  assert.equal(enrolled.status, 200)
  await task(
    'reset a second factor',
    [
      press('ControlOrMeta+k'),
      async (shown) => {
        await shown.getByRole('combobox').fill(ada.email)
        await shown.getByRole('option', { name: ada.email }).click()
      },
      click((shown) => shown.getByRole('button', { name: 'Reset factors…' })),
      confirm('Reset'),
    ],
    () => page.getByText('1 second factor removed.').waitFor(),
  )

  assert.equal(await hit('acme', 5), 'OK')
  await task(
    'change a limit, and see its effect',
    [
      goTo('Limits'),
      click((shown) => shown.getByRole('button', { name: /^Change the limit of operation = exp/ })),
      type((shown) => shown.getByLabel('Requests', { exact: true }), '3'),
      async (shown) => {
        await shown.getByText('1 request would be decided differently.').waitFor()
        await confirm('Save')(shown)
      },
    ],
    async () => {
      await page.getByText('The limit is now 3 per day.').waitFor()
      assert.equal(await hit('globex', 5), 'OVER_LIMIT')
    },
  )

  const key = (shown: Page) =>
    shown.getByRole('button', { name: `api tenant=globex-${mark}, operation=export` })
  await task('see which keys have the most hits over their limit', [goTo('Limits'), showKeys], () =>
    key(page).waitFor(),
  )

  await task(
    'reset one counter',
    [
      goTo('Limits'),
      showKeys,
      click(key),
      click((shown) => shown.getByRole('button', { name: 'Reset counter' })),
    ],
    async () => {
      await page.getByText('The counter was reset.').waitFor()
      assert.equal(await hit('globex', 1), 'OK')
    },
  )

  await task(
    'send a test email',
    [
      goTo('Settings'),
      click((shown) => shown.getByRole('tab', { name: 'Email templates' })),
      click((shown) => shown.getByRole('button', { name: 'Send test email…' })),
      async (shown) => {
        await shown.getByRole('textbox', { name: 'Email address' }).fill(ada.email)
        await shown.keyboard.press('Enter')
      },
    ],
    () => page.getByText(`The mail server accepted the test email for ${ada.email}.`).waitFor(),
  )

  await task(
    'audit a GraphQL server',
    [goTo('GraphQL'), click((shown) => shown.getByRole('button', { name: 'Run audits' }))],
    () => page.getByText('All 61 audits pass.').first().waitFor(),
  )

  await t.test('export users', async () => {
    await switchTo(page, '/')
    const download = page.waitForEvent('download')
    await goTo('Users')(page)
    await click((shown) => shown.getByRole('button', { name: 'Export…' }))(page)
    await confirmKeepingOpen('Export')(page)
    assert.match((await download).suggestedFilename(), /\.csv$/)
  })

  await task('watch live', [goTo('Events')], async () => {
    await page.getByText('Live', { exact: true }).waitFor()
    const email = `unknown-${mark}@tasks.example`
    assert.equal(await signIn({ email, password: 'x' }), 'invalid_credentials')
    await page.getByText(email).first().waitFor()
  })
}

type Step = (page: Page) => Promise<void>
type Find = (page: Page) => Locator

function goTo(title: string): Step {
  return (page) => page.getByRole('navigation').getByRole('link', { name: title }).click()
}

function click(find: Find): Step {
  return (page) => find(page).first().click()
}

function type(find: Find, text: string): Step {
  return (page) => find(page).fill(text)
}

function search(text: string): Step {
  return type((page) => page.getByLabel('Search users'), text)
}

function press(keys: string): Step {
  return (page) => page.keyboard.press(keys)
}

function confirmKeepingOpen(name: string): Step {
  return click((page) => page.getByRole('dialog').getByRole('button', { name, exact: true }))
}

function confirm(name: string): Step {
  return async (page) => {
    await confirmKeepingOpen(name)(page)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
}

const showKeys = click((page) => page.getByRole('link', { name: 'Top keys' }))
