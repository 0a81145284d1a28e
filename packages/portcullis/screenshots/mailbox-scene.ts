import type { Page } from 'playwright-core'
import type { TestWorld } from '../test/support/world.ts'

interface Request {
  readonly email?: string
  readonly password?: string
  readonly phone?: string
  readonly channel?: 'sms' | 'whatsapp'
}

/** Requests that make the auth server send a message. */
const requests: readonly (readonly [path: string, body: Request])[] = [
  ['/signup', toSignup('grace@example.com')],
  ['/otp', { phone: '+15550142' }],
  ['/otp', { email: 'barbara@example.com' }],
  ['/otp', { phone: '+15550143', channel: 'whatsapp' }],
  ['/signup', toSignup('linus@example.com')],
  ['/signup', toSignup('ada@example.com')],
]

function toSignup(email: string): Request {
  return { email, password: 'correct horse battery' }
}

/** Shows several messages of each kind, with the newest one open. */
export async function showMailbox(page: Page, world: TestWorld): Promise<void> {
  const { consoleUrl, baseUrls } = world
  await page.goto(`${consoleUrl}/mailbox`)
  const newest = page.getByRole('heading', { level: 2, name: 'Confirm your signup' })
  const empty = page.getByRole('heading', { level: 2, name: 'No messages yet' })
  await newest.or(empty).first().waitFor()
  if (await empty.isVisible()) {
    for (const [path, body] of requests) {
      await fetch(`${baseUrls.auth}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const to = body.email ?? body.phone ?? ''
      await page.getByRole('list', { name: 'Messages' }).getByText(to).first().waitFor()
    }
  }
  await newest.waitFor()
  await waitForMessageFrame(page)
}

/** Waits until the HTML of the open message is shown. */
export async function waitForMessageFrame(page: Page): Promise<void> {
  await page.frameLocator('iframe').getByRole('link', { name: 'Confirm your address' }).waitFor()
}
