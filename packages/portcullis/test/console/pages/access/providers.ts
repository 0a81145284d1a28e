import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { openIssuer } from '../../../support/access-data.ts'
import { findFaultsOfState } from '../accessibility.ts'
import { confirm, openForm } from './steps.ts'

/** Custom providers. */
export async function testProviders(
  t: TestContext,
  page: Page,
  browserErrors: string[],
  mark: string,
): Promise<void> {
  const issuer = await openIssuer(t)
  const name = `Example ${mark}`

  await t.test('a provider whose discovery fails is not added', async () => {
    const dialog = await openForm(page, 'tab=providers&new=provider', 'Add custom provider')
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Identifier').fill(`example-${mark}`)
    await dialog.getByLabel('Issuer').fill(`${issuer}/none`)
    await dialog.getByLabel('Client ID', { exact: true }).fill('portcullis')
    await dialog.getByLabel('Client secret').fill('the secret of the provider')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText(/OIDC discovery from ".*" failed/).waitFor()
    browserErrors.length = 0
    assert.equal(await dialog.getByLabel('Issuer').getAttribute('aria-invalid'), 'true')
    assert.deepEqual(await findFaultsOfState(page), [])
  })

  await t.test('a syntax error in a folded field unfolds it', async () => {
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Issuer').fill(issuer)
    await dialog.getByText('Attribute mapping and more settings').click()
    const mapping = dialog.getByLabel('Attribute mapping', { exact: true })
    await mapping.fill('{"email": mail}')
    await dialog.getByText('Attribute mapping and more settings').click()
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('Line 1, column 11: expected a value').waitFor()
    assert.equal(await mapping.evaluate((field) => field.matches(':focus')), true)
    await mapping.fill('{"email": "mail"}')
    await confirm(page, 'Add')
    await page.getByRole('link', { name }).waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
  })

  await t.test('a provider is opened by its URL, disabled, changed and deleted', async () => {
    await page.getByRole('link', { name }).click()
    await page.reload()
    await page.getByText('"email": "mail"').waitFor()
    assert.ok(!(await page.content()).includes('the secret of the provider'))
    await page.getByRole('button', { name: 'Copy callback URL' }).click()
    await page.waitForFunction(async () =>
      /^http:\/\/localhost:\d+\/callback$/.test(await navigator.clipboard.readText()),
    )
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    await page.getByRole('button', { name: 'Edit…' }).click()
    await page.getByRole('dialog').getByLabel('Scopes').fill('openid email')
    await confirm(page, 'Save')
    await page.getByText('openid email').waitFor()
    await page.getByText('Disabled', { exact: true }).waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
    await page.getByRole('button', { name: 'Delete…' }).click()
    await confirm(page, 'Delete')
    await page.waitForURL((url) => !url.searchParams.has('id'))
    assert.equal(await page.getByRole('link', { name }).count(), 0)
  })
}
