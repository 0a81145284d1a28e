import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { parseSecrets } from '../../../src/up/secrets.ts'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import type { RunSuite } from './suite.ts'

const axePath = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))

function getRow(page: Page, name: string) {
  return page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
}

async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name, exact: true }).click()
}

async function findFaults(page: Page): Promise<readonly string[]> {
  const { violations } = await page.evaluate(() => {
    // Added by the init script.
    const axe: typeof import('axe-core') = Reflect.get(window, 'axe')
    return axe.run(document, { resultTypes: ['violations'] })
  })
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

export const testSettings: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl, {
    viewport: { width: 1280, height: 860 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const { page } = visitor
  await page.context().addInitScript({ path: axePath })
  await page.reload()
  await page.getByRole('navigation').waitFor()
  const bodies: string[] = []
  page.on('response', (answer) => {
    if (!answer.url().includes('/api/settings/')) return
    answer.text().then(
      (text) => bodies.push(text),
      () => {},
    )
  })

  await t.test('the settings of the auth server show their values and sources', async () => {
    await switchTo(page, '/settings')
    const row = getRow(page, 'AUTH_SITE_URL')
    await row.waitFor()
    assert.match(await row.innerText(), /\/try[\s\S]*Environment/)
    const search = page.getByRole('searchbox', { name: 'Search settings' })
    await search.fill('AUTH_JWT_SECRET')
    const secret = getRow(page, 'AUTH_JWT_SECRET')
    await row.waitFor({ state: 'detached' })
    assert.match(await secret.innerText(), /\bset\b/)
    await search.fill('lifetime codes')
    await getRow(page, 'AUTH_MAILER_OTP_EXP').waitFor()
    await search.fill('no setting has this name')
    await page.getByRole('heading', { name: 'No matching settings' }).waitFor()
    await search.fill('')
  })

  await t.test('a filter shows only what was changed from the default', async () => {
    await getRow(page, 'AUTH_SITE_URL').waitFor()
    await page.getByRole('checkbox', { name: /^Changed from default/ }).check()
    await getRow(page, 'AUTH_SMTP_MAX_FREQUENCY').waitFor()
    assert.equal(
      await page.locator('.settings-table tbody tr:not(.changed):not(.settings-chapter)').count(),
      0,
    )
    await page.getByRole('checkbox', { name: /^Changed from default/ }).uncheck()
    await page.getByRole('button', { name: /^Show all/ }).click()
    await getRow(page, 'AUTH_HOOK_SEND_EMAIL_URI').waitFor()
  })

  await t.test('each of the other servers has a tab with its own address', async () => {
    await openTab(page, 'Rate limits')
    await getRow(page, 'BACKEND_TYPE').waitFor()
    assert.match(await getRow(page, 'BACKEND_TYPE').innerText(), /memory[\s\S]*Environment/)
    assert.match(page.url(), /\/settings\?tab=ratelimit$/)
    assert.match(await getRow(page, 'RUNTIME_ROOT').innerText(), /Command line/)
    await openTab(page, 'GraphQL API')
    await getRow(page, '--graphql-port').waitFor()
    assert.match(
      await getRow(page, '--graphql-port').innerText(),
      /Default: 4000[\s\S]*Command line/,
    )
    await page.goBack()
    await getRow(page, 'BACKEND_TYPE').waitFor()
  })

  await t.test('providers show what they need and their callback URL', async () => {
    await openTab(page, 'Providers')
    const github = page.getByRole('listitem', { name: 'github' })
    await github.getByText('Disabled').waitFor()
    await github.getByText('AUTH_EXTERNAL_GITHUB_CLIENT_ID').waitFor()
    await github.getByRole('button', { name: 'Copy URL' }).click()
    await github.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    assert.match(copied, /^http:\/\/localhost:\d+\/callback$/)
    await page.getByRole('searchbox', { name: 'Search providers' }).fill('git')
    await page.getByRole('listitem', { name: 'google' }).waitFor({ state: 'detached' })
    assert.deepEqual(await findFaults(page), [])
  })

  await t.test('templates are shown as HTML and text, with their variables', async () => {
    await openTab(page, 'Email templates')
    const list = page.getByRole('region', { name: 'Templates', exact: true })
    await list.getByRole('button', { name: 'Invite' }).click()
    await page.getByText('You have been invited', { exact: true }).first().waitFor()
    await page.frameLocator('iframe').getByText('Accept the invitation').first().waitFor()
    await page.getByRole('tab', { name: 'Plain text' }).click()
    await page.getByText('example-token').first().waitFor()
    await page.getByRole('tab', { name: 'Variables' }).click()
    await page.getByRole('cell', { name: '{{ .ConfirmationURL }}' }).waitFor()
    await page.getByRole('cell', { name: 'ada@example.com' }).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await findFaults(page), [])
    }
    await page.setViewportSize({ width: 390, height: 844 })
    const overhang = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    assert.equal(overhang, 0, 'horizontal scrolling in a narrow window')
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  await t.test('a test is sent to an address, and a refusal is shown in the dialog', async () => {
    const email = 'settings-test@example.com'
    await page.getByRole('button', { name: 'Send test email…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send test email' })
    await dialog.getByRole('textbox', { name: 'Email address' }).fill('a@-')
    // The browser accepts this address, and the auth server refuses it.
    await dialog.locator('form').evaluate((form: HTMLFormElement) => (form.noValidate = true))
    visitor.browserErrors.length = 0
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.getByText('Unable to validate email address').waitFor()
    visitor.browserErrors.length = 0
    await dialog.getByRole('textbox', { name: 'Email address' }).fill(email)
    await dialog.getByRole('button', { name: 'Send' }).click()
    await page.getByText(`The mail server accepted the test email for ${email}.`).waitFor()
    await switchTo(page, '/mailbox')
    await page.getByRole('list', { name: 'Messages' }).getByText(email).first().waitFor()
  })

  await t.test('no secret was sent to the browser', () => {
    const secrets = parseSecrets(readFileSync(join(world.folder, 'secrets.json'), 'utf8'))
    assert.ok(secrets && bodies.length > 3)
    for (const secret of Object.values(secrets)) {
      assert.ok(!bodies.some((body) => body.includes(secret)))
    }
  })
}
