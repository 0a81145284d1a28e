import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { openVisitor, type Visitor } from '../../support/visitor.ts'
import type { Scene } from './suite.ts'

export const password = 'correct horse battery'

/** Returns a unique address. */
export function inventEmail(name: string): string {
  return `${name}-${crypto.randomUUID().slice(0, 8)}@example.com`
}

export function openTry({ browser, world }: Scene): Promise<Visitor> {
  const viewport = { width: 1280, height: 860 }
  return openVisitor(browser, world.entryUrl.replace('/?', '/try?'), { viewport })
}

/** Resets the stored state; opening a new visitor would take twice as long. */
export async function startOver(page: Page): Promise<void> {
  await page.evaluate(() => {
    localStorage.clear()
    sessionStorage.clear()
  })
  await page.goto(new URL('/try', page.url()).href)
  await page.getByRole('tab', { name: 'Sign up' }).waitFor()
}

export async function signUp(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText(`sent to ${email}`).waitFor()
}

/** Follows the link to the Mailbox and opens the newest message to that address. */
export async function openMessage(page: Page, to: string): Promise<Locator> {
  await page.getByRole('status').getByRole('link', { name: 'Mailbox' }).click()
  const message = page.getByRole('list', { name: 'Messages' }).getByRole('button')
  await message.filter({ hasText: to }).first().click()
  const opened = page.getByRole('article').filter({ hasText: to })
  await opened.waitFor()
  return opened
}

/** Returns the URL of the link, without opening it. */
export async function readLink(message: Locator): Promise<string> {
  return (await message.getByRole('link', { name: 'Open link' }).getAttribute('href')) ?? ''
}

export async function readCode(message: Locator): Promise<string> {
  const code = /\b\d{6}\b/.exec(await message.innerText())?.[0]
  return code ?? assert.fail('The message contains no code')
}

export function getSignOut(page: Page): Locator {
  return page.getByRole('button', { name: 'Sign out', exact: true })
}

/** Removes the browser's messages about responses that the test expects. */
export function removeStatusErrors(
  { browserErrors }: Visitor,
  ...statuses: readonly number[]
): void {
  const isWanted = (text: string) =>
    statuses.some((status) =>
      text.startsWith(`Failed to load resource: the server responded with a status of ${status}`),
    )
  browserErrors.splice(0, browserErrors.length, ...browserErrors.filter((text) => !isWanted(text)))
}
