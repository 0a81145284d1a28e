import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { createSamlMetadata } from '../../../support/access-data.ts'
import { openVisitor, switchTo } from '../../../support/visitor.ts'
import type { TestWorld } from '../../../support/world.ts'
import { grantAccess } from '../../users-database.ts'
import { findFaultsOfState } from '../accessibility.ts'
import type { RunSuite } from '../suite.ts'
import { confirm, openForm, takeSecret, wide } from './steps.ts'

/** Company sign-in, API keys, and what a user has granted. */
export const testAccessPrograms: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl, wide)
  const { page, browserErrors } = visitor
  const mark = Math.random().toString(36).slice(2, 8)
  await testCompanies(t, page, browserErrors, mark)
  await testKeys(t, page, world, mark)
  await testUserAccess(t, page, world, mark)
}

async function testCompanies(
  t: TestContext,
  page: Page,
  browserErrors: string[],
  mark: string,
): Promise<void> {
  const domain = `company-${mark}.example`

  await t.test('an identity provider is refused by field, then added with its XML', async () => {
    const dialog = await openForm(page, 'tab=sso&new=sso', 'Add identity provider')
    await dialog.getByRole('textbox', { name: 'URL' }).fill('http://idp.example/metadata')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('metadata_url is not a HTTPS URL').waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
    await dialog.getByRole('radio', { name: 'Metadata XML' }).check()
    await dialog.getByRole('textbox', { name: 'XML' }).fill(createSamlMetadata(`https://${domain}`))
    await dialog.getByLabel('Domains').fill('not/a/domain')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText("'not/a/domain' is not a domain").waitFor()
    browserErrors.length = 0
    assert.equal(await dialog.getByLabel('Domains').getAttribute('aria-invalid'), 'true')
    await dialog.getByLabel('Domains').fill(`${domain} second-${domain}`)
    await confirm(page, 'Add')
    await page.getByRole('link', { name: domain, exact: true }).waitFor()
    await page.getByRole('button', { name: 'Copy ACS URL' }).click()
    await page.waitForFunction(async () =>
      /^http:\/\/localhost:\d+\/sso\/saml\/acs$/.test(await navigator.clipboard.readText()),
    )
    assert.deepEqual(await findFaultsOfState(page), [])
  })

  await t.test('an identity provider is changed and disabled', async () => {
    await page.getByRole('link', { name: domain, exact: true }).click()
    await page.getByText('entered as XML').waitFor()
    await page.getByRole('button', { name: 'Edit…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Attribute mapping and more settings').click()
    await dialog.getByLabel('Attribute mapping').fill('{"email": {"name": 1}}')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('attribute_mapping.keys.email.name must be a string').waitFor()
    browserErrors.length = 0
    await dialog.getByLabel('Attribute mapping').fill('{"email": {"name": "mail"}}')
    await confirm(page, 'Save')
    await page.getByText('"name": "mail"').waitFor()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('Disabled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('Enabled', { exact: true }).waitFor()
  })

  await t.test('a SCIM token is shown once and revoked', async () => {
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByText('The token is shown only here.').waitFor()
    assert.match(await takeSecret(page, 'Token'), /^scim_/)
    const tokens = page.getByRole('list', { name: 'SCIM tokens' })
    await tokens.waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
    await tokens.getByRole('button', { name: /^Revoke the token/ }).click()
    await confirm(page, 'Revoke')
    await page.getByText('No tokens yet.').waitFor()
  })

  await t.test('an identity provider is deleted after a confirmation', async () => {
    await page.getByRole('button', { name: 'Delete…' }).click()
    await confirm(page, 'Delete')
    await page.waitForURL((url) => url.search === '?tab=sso')
    assert.equal(await page.getByRole('link', { name: domain, exact: true }).count(), 0)
  })
}

async function testKeys(t: TestContext, page: Page, world: TestWorld, mark: string): Promise<void> {
  const account = `Billing ${mark}`
  const name = `Nightly ${mark}`
  const row = page.getByRole('row').filter({ hasText: name })

  await t.test('a service account is created, and a key for it is shown once', async () => {
    const form = await openForm(page, 'tab=keys&new=account', 'Create service account')
    await form.getByLabel('Name').fill(account)
    await confirm(page, 'Create')
    await page.getByRole('link', { name: account }).click()
    await page.waitForURL((url) => url.searchParams.has('account'))
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Scopes').fill('reports:read reports:write')
    await dialog.getByLabel('Expires').selectOption('At the end of a day…')
    await dialog.getByLabel('Last day').fill('2020-01-31')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('Choose today or a later day.').waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
    await dialog.getByLabel('Expires').selectOption('In 30 days')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('The key is shown only here.').waitFor()
    const key = await takeSecret(page, 'API key')
    assert.equal(await exchange(world, key), 200)
    await row.waitFor()
    assert.match(await row.innerText(), /reports:read reports:write[\s\S]*in 30 days/)
    // The name of the owner has two words; a narrow column must not break them.
    const lines = await row.getByRole('link', { name: account }).evaluate((link) => {
      const text = document.createRange()
      text.selectNodeContents(link)
      return new Set([...text.getClientRects()].map(({ top }) => top)).size
    })
    assert.ok(lines <= 2, `${lines}`)
    assert.deepEqual(await findFaultsOfState(page), [])
  })

  await t.test('a key is rotated with an overlap, then revoked', async () => {
    await page.getByRole('button', { name: `Rotate ${name}` }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create new secret' }).click()
    await page.getByText('The key is shown only here.').waitFor()
    const key = await takeSecret(page, 'API key')
    await row.getByText('Two secrets').waitFor()
    await page.getByRole('button', { name: `Revoke ${name}` }).click()
    await confirm(page, 'Revoke')
    await row.waitFor({ state: 'detached' })
    assert.notEqual(await exchange(world, key), 200)
  })

  await t.test('a service account is deleted after a confirmation', async () => {
    await page.getByRole('link', { name: 'All API keys' }).click()
    await page.getByRole('button', { name: `Delete ${account}` }).click()
    await confirm(page, 'Delete')
    await page.getByText(`${account} was deleted.`).waitFor()
    await page.getByRole('link', { name: account }).waitFor({ state: 'detached' })
  })
}

/** Exchanges a key for an access token. @returns the status. */
async function exchange({ baseUrls }: TestWorld, key: string): Promise<number> {
  const answer = await fetch(`${baseUrls.auth}/token?grant_type=api_key`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: key }),
  })
  await answer.body?.cancel()
  return answer.status
}

async function testUserAccess(
  t: TestContext,
  page: Page,
  world: TestWorld,
  mark: string,
): Promise<void> {
  const post = async (path: string, data: object) => {
    const answer = await page.request.post(world.consoleUrl + path, {
      headers: { 'x-portcullis-console': '1' },
      data,
    })
    assert.ok(answer.ok(), await answer.text())
    return await answer.json()
  }

  await t.test('a user’s grants and keys are listed and revoked in the user’s panel', async () => {
    const user = await post('/api/users', { email: `grants-${mark}@example.org` })
    const client = await post('/api/access/clients', {
      client_name: `Photos ${mark}`,
      redirect_uris: ['https://photos.example/callback'],
    })
    await grantAccess(world, user.id, client.client_id)
    await post('/api/access/keys', { name: `Own ${mark}`, user_id: user.id })
    await switchTo(page, `/users?id=${user.id}&tab=access`)
    const applications = page.getByRole('region', { name: 'Applications' })
    await applications.getByText('email profile').waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
    await page.getByRole('button', { name: `Revoke the access of Photos ${mark}` }).click()
    await confirm(page, 'Revoke')
    await applications.getByText('has not granted access').waitFor()
    await page.getByRole('button', { name: `Revoke Own ${mark}` }).click()
    await confirm(page, 'Revoke')
    await page.getByText('The user has no API keys.').waitFor()
    await page.getByRole('link', { name: 'Create and rotate keys' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    const field = page.getByRole('dialog').getByLabel('User ID')
    assert.equal(await field.inputValue(), user.id)
    await page.keyboard.press('Escape')
  })
}
