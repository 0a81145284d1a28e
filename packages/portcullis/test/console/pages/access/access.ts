import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { openVisitor, switchTo, waitForClipboard } from '../../../support/visitor.ts'
import { findFaultsOfState } from '../accessibility.ts'
import type { RunSuite } from '../suite.ts'
import { testProviders } from './providers.ts'
import { confirm, openForm, takeSecret, wide } from './steps.ts'

/** OAuth clients and custom providers. */
export const testAccess: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl, wide)
  const { page, browserErrors } = visitor
  const mark = Math.random().toString(36).slice(2, 8)
  const name = `Planner ${mark}`

  await t.test(
    'a refused field of a form shows the reason beside it and gets the focus',
    async () => {
      const dialog = await openForm(page, 'new=client', 'Register OAuth client')
      await dialog.getByLabel('Name').fill(name)
      await dialog.getByRole('button', { name: 'Register' }).click()
      await dialog.getByText('Enter at least one redirect URI').waitFor()
      const uris = dialog.getByLabel('Redirect URIs')
      await uris.fill('http://planner.example/callback')
      await dialog.getByRole('button', { name: 'Register' }).click()
      await dialog.getByText('HTTP scheme only allowed for localhost').waitFor()
      browserErrors.length = 0
      assert.equal(await uris.getAttribute('aria-invalid'), 'true')
      assert.equal(await uris.evaluate((field) => field.matches(':focus')), true)
      assert.equal(await dialog.getByLabel('Name').getAttribute('aria-invalid'), null)
      assert.deepEqual(await findFaultsOfState(page), [])
      await uris.fill('https://planner.example/callback\nhttp://localhost:3000/callback')
    },
  )

  await t.test('the secret of a new client is shown once', async () => {
    await page.getByRole('dialog').getByRole('button', { name: 'Register' }).click()
    await page.getByText('The secret is shown only here.').waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
    await takeSecret(page, 'Client secret')
    assert.equal(new URL(page.url()).search, '')
  })

  await t.test('a client is found, opened by its URL, changed and rotated', async () => {
    const search = page.getByRole('searchbox', { name: 'Search clients' })
    await search.fill('no client has this name')
    await page.getByRole('heading', { name: 'No matching clients' }).waitFor()
    await search.fill(mark)
    await page.waitForURL((url) => url.searchParams.get('q') === mark)
    await page.getByRole('link', { name }).click()
    await page.getByRole('heading', { name }).waitFor()
    await page.reload()
    await page.getByText('http://localhost:3000/callback').waitFor()
    await page.getByRole('button', { name: 'Copy client ID' }).click()
    await waitForClipboard(page, new URL(page.url()).searchParams.get('id') ?? '')
    assert.deepEqual(await findFaultsOfState(page), [])

    await page.getByRole('button', { name: 'Edit…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('checkbox', { name: 'Act as itself' }).check()
    await dialog.getByText('More settings').click()
    const method = dialog.getByLabel('The client sends its secret')
    await method.selectOption('in the body of the request')
    const bound = dialog.getByLabel('Bind access tokens to a key (DPoP)')
    await bound.check()
    await confirm(page, 'Save')
    await page.getByText('Act as itself').waitFor()
    await page.getByText('Bound to a key (DPoP)').waitFor()
    await page.getByRole('button', { name: 'Edit…' }).click()
    assert.equal(await bound.isChecked(), true)
    assert.equal(await method.inputValue(), 'client_secret_post')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Rotate secret…' }).click()
    await dialog.getByLabel('The previous secret ends').selectOption('After an hour')
    await dialog.getByRole('button', { name: 'Create new secret' }).click()
    await page.getByText('The secret is shown only here.').waitFor()
    await takeSecret(page, 'Client secret')
    await page.getByText('The previous secret is accepted until').waitFor()
  })

  await t.test('a client is deleted after a confirmation', async () => {
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog', { name: `Delete ${name}?` }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Delete…' }).click()
    await confirm(page, 'Delete')
    await page
      .getByRole('searchbox', { name: 'Search clients' })
      .or(emptyList(page))
      .first()
      .waitFor()
    assert.equal(await page.getByRole('link', { name }).count(), 0)
    await switchTo(page, '/access?id=00000000-0000-4000-8000-000000000000')
    await page.getByRole('heading', { name: 'OAuth client not found' }).waitFor()
    browserErrors.length = 0
  })

  await t.test('a public client has no secret', async () => {
    const dialog = await openForm(page, 'new=client', 'Register OAuth client')
    await dialog.getByLabel('Name').fill(`App ${mark}`)
    await dialog.getByRole('radio', { name: 'Public' }).check()
    await dialog.getByLabel('Redirect URIs').fill('com.example.app://callback')
    assert.equal(await dialog.getByRole('checkbox', { name: 'Act as itself' }).count(), 0)
    await confirm(page, 'Register')
    await page.getByRole('link', { name: `App ${mark}` }).click()
    await page.getByText('Public: it has no secret').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Rotate secret…' }).count(), 0)
  })

  await t.test('a thousand clients are shown in parts', async () => {
    let example: object | undefined
    await page.route('**/api/access/clients?*', async (route) => {
      const response = await route.fetch()
      const { clients } = await response.json()
      // The second part of the real list is empty.
      example ??= clients[0]
      const many = Array.from({ length: 1_000 }, (_, index) => ({
        ...example,
        client_id: `${index}`,
        client_name: `Client ${index + 1}`,
      }))
      const headers = { ...response.headers(), 'x-total-count': '2500' }
      await route.fulfill({ response, headers, json: { clients: many } })
    })
    await switchTo(page, '/access')
    await page.getByRole('heading', { name: '2,500 OAuth clients' }).waitFor()
    assert.equal(await page.getByRole('row').count(), 101)
    await page.getByRole('button', { name: 'Show more (900 left)' }).click()
    await page.getByRole('link', { name: 'Client 200', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Older' }).click()
    await page.waitForURL((url) => url.searchParams.get('page') === '2')
    await page.getByText('Part 2 of 3').waitFor()
    await page.getByRole('button', { name: /^Show more/ }).waitFor()
    await page.unrouteAll({ behavior: 'wait' })
  })

  await t.test('a failure can be retried', async () => {
    await page.route('**/api/access/clients?*', (route) => route.abort())
    await switchTo(page, '/access')
    await page.getByRole('alert').waitFor()
    await page.unrouteAll()
    browserErrors.length = 0
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: `App ${mark}` }).waitFor()
  })

  await testSwitchedOff(t, page, browserErrors)
  await testProviders(t, page, browserErrors, mark)

  await t.test(
    'the command palette finds the page by its features, and opens its forms',
    async () => {
      await switchTo(page, '/')
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('saml')
      await page.getByRole('option', { name: 'Access' }).click()
      await page.waitForURL((url) => url.pathname === '/access')
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('create api key')
      await page.getByRole('option', { name: 'Create API key' }).click()
      await page.getByRole('dialog', { name: 'Create API key' }).waitFor()
      await page.keyboard.press('Escape')
      await page.waitForURL((url) => url.search === '?tab=keys')
    },
  )
}

function emptyList(page: Page) {
  return page.getByRole('heading', { name: 'No OAuth clients yet' })
}

async function testSwitchedOff(t: TestContext, page: Page, browserErrors: string[]): Promise<void> {
  const offs = [
    ['clients?*', '', 'feature_disabled', 'AUTH_OAUTH_SERVER_ENABLED=true'],
    ['providers', '?tab=providers', 'feature_disabled', 'AUTH_CUSTOM_OAUTH_ENABLED=true'],
    ['sso', '?tab=sso', 'saml_provider_disabled', 'AUTH_SAML_ENABLED=true'],
  ] as const
  const advice = (query: string) => (query === '?tab=sso' ? /openssl genrsa/ : /\.env/)
  for (const [path, query, code, setting] of offs) {
    await t.test(`a page whose feature is off names ${setting}`, async () => {
      await page.route(`**/api/access/${path}`, (route) =>
        route.fulfill({ status: 404, json: { code: 404, error_code: code, msg: 'disabled' } }),
      )
      await switchTo(page, `/access${query}`)
      await page.getByText(setting).waitFor()
      await page.getByText(advice(query)).first().waitFor()
      assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
      await page.unrouteAll()
      browserErrors.length = 0
    })
  }
}
