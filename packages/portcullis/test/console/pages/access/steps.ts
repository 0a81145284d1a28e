import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { switchTo } from '../../../support/visitor.ts'

export const wide = {
  viewport: { width: 1280, height: 860 },
  permissions: ['clipboard-read', 'clipboard-write'],
}

/** Opens a form of the page by its URL. */
export async function openForm(page: Page, query: string, title: string) {
  await switchTo(page, `/access?${query}`)
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.waitFor()
  return dialog
}

/** The button that confirms the open dialog, as opposed to the one that has opened it. */
export async function confirm(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Reads the secret that a dialog shows, and checks that it is nowhere else once the dialog is closed. */
export async function takeSecret(page: Page, name: string): Promise<string> {
  const secret = (await page.getByRole('status', { name, exact: true }).textContent()) ?? ''
  assert.ok(secret.length >= 20, secret)
  assert.ok(!page.url().includes(secret))
  await confirm(page, 'Done')
  await page.reload()
  await page.getByRole('tabpanel').waitFor()
  await page.locator('.loading').first().waitFor({ state: 'detached' })
  assert.ok(!(await page.content()).includes(secret))
  const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, history]))
  assert.ok(!stored.includes(secret))
  return secret
}
