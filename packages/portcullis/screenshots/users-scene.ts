import type { Page } from 'playwright-core'
import { addManyUsers, grantAccess } from '../test/console/users-database.ts'
import type { TestWorld } from '../test/support/world.ts'

const people = [
  { email: 'ada.lovelace@example.org', name: 'Ada Lovelace', more: { role: 'service_role' } },
  { email: 'grace.hopper@example.org', name: 'Grace Hopper' },
  { email: 'katherine.johnson@example.org', name: 'Katherine Johnson', isUnconfirmed: true },
  { email: 'alan.turing@example.org', name: 'Alan Turing', more: { ban_duration: '168h' } },
  { phone: '+4915123456789', name: 'Konrad Zuse' },
  { email: 'hedy.lamarr@example.org', name: 'Hedy Lamarr', isUnconfirmed: true },
  { email: 'margaret.hamilton@example.org', name: 'Margaret Hamilton' },
] as const

const prepared = new WeakSet<TestWorld>()

/** Shows a long list that contains users of every kind. */
export async function prepareUsers(page: Page, world: TestWorld): Promise<void> {
  if (!prepared.has(world)) {
    prepared.add(world)
    await addManyUsers(world, { count: 12_000, domain: 'example.com' })
    for (const person of people) await createPerson(page, world, person)
    await signIn(world, 'margaret.hamilton@example.org')
  }
  await page.goto(`${world.consoleUrl}/users`)
  await page.getByText('margaret.hamilton@example.org').first().waitFor()
}

/** Shows the list with one user open beside it. */
export async function prepareOneUser(page: Page, world: TestWorld): Promise<void> {
  await prepareUsers(page, world)
  await page.getByRole('link', { name: 'margaret.hamilton@example.org' }).click()
  await page.getByRole('tablist').waitFor()
}

/** Shows one tab of a user. */
export function showTab(title: string) {
  return async (page: Page, world: TestWorld): Promise<void> => {
    await prepareOneUser(page, world)
    await page.getByRole('tab', { name: title }).click()
    await page.getByRole('tabpanel', { name: title }).waitFor()
    await page.locator('.loading').first().waitFor({ state: 'detached' })
  }
}

const withAccess = new WeakSet<TestWorld>()

/** Shows the applications and API keys of a user. */
export async function showUserAccess(page: Page, world: TestWorld): Promise<void> {
  await prepareOneUser(page, world)
  if (!withAccess.has(world)) {
    withAccess.add(world)
    const user_id = new URL(page.url()).searchParams.get('id') ?? ''
    const post = async (path: string, data: object) => {
      const answer = await page.request.post(`${world.consoleUrl}/api/access/${path}`, {
        headers: { 'x-portcullis-console': '1' },
        data,
      })
      return await answer.json()
    }
    const { client_id } = await post('clients', {
      client_name: 'Photo album',
      redirect_uris: ['https://photos.example.com/callback'],
    })
    await grantAccess(world, user_id, client_id)
    await post('keys', { name: 'Backup script', scopes: ['notes:read'], user_id })
  }
  await showTab('Access')(page, world)
}

/** Shows a search without results. */
export async function showNoUsers(page: Page, { consoleUrl }: TestWorld): Promise<void> {
  await page.goto(`${consoleUrl}/users?q=unknown%40example.net`)
  await page.getByRole('heading', { name: 'No users match' }).waitFor()
}

/** Shows the filters, two of which apply. */
export async function showFilteredUsers(page: Page, world: TestWorld): Promise<void> {
  await prepareUsers(page, world)
  await page.goto(`${world.consoleUrl}/users?confirmed=true&signed_in=false&sort=email`)
  await page.getByRole('button', { name: 'Filters', exact: true }).click()
  await page.getByText(/matching 2 filters/).waitFor()
}

/** Shows three selected users. */
export async function showSelectedUsers(page: Page, world: TestWorld): Promise<void> {
  await prepareUsers(page, world)
  for (const name of ['margaret.hamilton', 'hedy.lamarr', 'alan.turing']) {
    await page.getByLabel(`Select ${name}@example.org`).click()
  }
  await page.getByText('3 selected').waitFor()
}

/** Shows the dialog that a button opens after the page is prepared. */
export function showDialog(prepare: typeof prepareUsers, button: string) {
  return async (page: Page, world: TestWorld): Promise<void> => {
    await prepare(page, world)
    await page.getByRole('button', { name: button, exact: true }).click()
    await page
      .getByRole('dialog')
      .filter({ has: page.getByRole('heading') })
      .last()
      .waitFor()
  }
}

/** Shows failed sign-ins with different reasons. */
export async function showFailures(page: Page, world: TestWorld): Promise<void> {
  await prepareUsers(page, world)
  for (const name of ['grace.hopper', 'katherine.johnson', 'alan.turing']) {
    await signIn(world, `${name}@example.org`)
  }
  for (const name of ['grace.hopper', 'grace.hopper', 'charles.babbage']) {
    await signIn(world, `${name}@example.org`, 'not the right one')
  }
  const isThere = page.getByText('charles.babbage@example.org')
  while (!(await isThere.isVisible())) {
    await page.goto(`${world.consoleUrl}/users?view=failures`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('.loading').first().waitFor({ state: 'detached' })
  }
}

const password = 'a-password-for-pictures'

async function createPerson(
  page: Page,
  { consoleUrl }: TestWorld,
  { name, ...person }: (typeof people)[number],
): Promise<void> {
  const {
    more = {},
    isUnconfirmed = false,
    ...reach
  } = { more: {}, isUnconfirmed: false, ...person }
  await page.request.post(`${consoleUrl}/api/users`, {
    headers: { 'x-portcullis-console': '1' },
    data: {
      ...reach,
      ...more,
      password,
      email_confirm: !isUnconfirmed,
      phone_confirm: !isUnconfirmed,
      user_metadata: { full_name: name },
    },
  })
}

async function signIn(
  { baseUrls }: TestWorld,
  email: string,
  tried: string = password,
): Promise<void> {
  await fetch(`${baseUrls.auth}/token?grant_type=password`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/140.0',
    },
    body: JSON.stringify({ email, password: tried }),
  })
}
