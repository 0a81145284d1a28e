import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Download, Locator, Page } from 'playwright-core'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import { addManyUsers, removeManyUsers, runSql, toSeededEmail } from '../users-database.ts'
import type { RunSuite } from './suite.ts'

const count = 300

/** All tests share one visitor and the same users, which are found by their domain. */
export const testManyUsers: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl.replace('/?', '/users?'), {
    viewport: { width: 1280, height: 860 },
  })
  const { page, browserErrors } = visitor
  const run = (name: string, act: () => Promise<void>) =>
    t.test(name, async () => {
      await act()
      assert.deepEqual(browserErrors, [])
    })
  const mark = Math.random().toString(36).slice(2, 8)
  const domain = `${mark}.many.example`
  const toEmail = (number: number) => toSeededEmail(number, { domain })
  const row = (number: number) => page.getByRole('row', { name: toEmail(number) })
  const openList = async (more = '') => {
    await switchTo(page, `/users?q=${domain}${more}`)
    await page.getByText(/ matching /).waitFor()
  }
  /** Calls the console as the page does. */
  const call = async (path: string, method = 'GET', data?: object) => {
    const answer = await page.request.fetch(world.consoleUrl + path, {
      method,
      headers: { 'x-portcullis-console': '1' },
      ...(data && { data }),
    })
    assert.ok(answer.ok(), `${method} ${path}: ${await answer.text()}`)
    return answer.json()
  }
  const countUsers = async (search: string) =>
    (await call(`/api/users?filter=${domain}&${search}`)).total

  await addManyUsers(world, { count, domain })
  try {
    await run('filters and the sort order are in the URL, and stay after a reload', async () => {
      await runSql(world, `update auth.users set banned_until = 'infinity' where email = any($1)`, [
        [11, 22, 33].map(toEmail),
      ])
      await openList()
      await page.getByText(`${count} users matching “${domain}”`).waitFor()
      await page.getByRole('button', { name: 'Filters', exact: true }).click()
      await page.getByLabel('Banned', { exact: true }).selectOption('Yes')
      await page.getByText(`3 users matching “${domain}” and one filter`).waitFor()
      await page.getByRole('columnheader', { name: /^User/ }).getByRole('button').click()
      await page.getByRole('columnheader', { name: /^User ↑/ }).waitFor()
      const { searchParams } = new URL(page.url())
      assert.deepEqual([searchParams.get('banned'), searchParams.get('sort')], ['true', 'email'])
      await page.reload()
      await page.getByText(`3 users matching “${domain}” and one filter`).waitFor()
      await row(33).waitFor()
      const names = await page.locator('.user-list tbody .who a').allInnerTexts()
      assert.deepEqual(names, [11, 22, 33].map(toEmail))
      await page.getByRole('button', { name: 'Remove filter Banned: yes' }).click()
      await page.getByText(`${count} users matching “${domain}”`).waitFor()
    })

    await run('dates filter whole days, and no match offers to clear the search', async () => {
      await openList()
      await page.getByRole('button', { name: 'Filters', exact: true }).click()
      // The users were created a year ago.
      const toDay = (daysAgo: number) => {
        const day = new Date(Date.now() - daysAgo * 86_400_000)
        return day.toLocaleDateString('sv')
      }
      await page.getByLabel('Created from', { exact: true }).fill(toDay(367))
      await page.getByLabel('Created until', { exact: true }).fill(toDay(363))
      await page.getByText(`${count} users matching “${domain}” and 2 filters`).waitFor()
      await page.getByLabel('Created from', { exact: true }).fill(toDay(30))
      await page.getByLabel('Created until', { exact: true }).fill('')
      await page.getByRole('heading', { name: 'No users match' }).waitFor()
      await page.getByRole('button', { name: 'Clear search' }).click()
      await page.getByText(/in total$/).waitFor()
      assert.equal(new URL(page.url()).search, '')
    })

    await run('an invalid filter in the URL is explained', async () => {
      await switchTo(page, '/users?confirmed=maybe')
      await page.getByText('confirmed must be true or false. Got "maybe"').waitFor()
      assert.equal(browserErrors.length, 1)
      assert.match(browserErrors.pop() ?? '', /status of 400/)
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await page.getByText(/in total$/).waitFor()
    })

    await run('columns and density can be chosen, and every column sorts', async () => {
      await openList()
      await page.getByRole('button', { name: 'View options…' }).click()
      const dialog = page.getByRole('dialog')
      for (const name of ['ID', 'Phone', 'Second factor', 'Role', 'Updated']) {
        await dialog.getByLabel(name, { exact: true }).check()
      }
      await dialog.getByLabel('Compact').check()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await page.reload()
      await row(count).waitFor()
      assert.equal((await row(count).boundingBox())?.height, 36)
      for (const name of [
        ...['User', 'ID', 'Phone', 'Sign-in method', 'Second factor', 'Role', 'Status'],
        ...['Updated', 'Last sign-in', 'Created'],
      ]) {
        for (const _ of ['first direction', 'other direction']) {
          const answered = page.waitForResponse(
            (answer) => new URL(answer.url()).pathname === '/api/users',
          )
          const header = page.getByRole('columnheader', { name: new RegExp(`^${name}`) })
          await header.getByRole('button').click()
          assert.equal((await answered).status(), 200, name)
          await header.and(page.locator('[aria-sort]')).waitFor()
        }
      }
      await page.getByRole('button', { name: 'View options…' }).click()
      await dialog.getByRole('button', { name: 'Reset' }).click()
      await dialog.getByLabel('Sort by').selectOption('User, descending')
      await dialog.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('columnheader', { name: /^User ↓/ }).waitFor()
      assert.equal(await page.getByRole('columnheader', { name: /^Phone/ }).count(), 0)
    })

    await run('the keyboard searches, moves, selects and opens', async () => {
      await openList('&sort=email')
      await row(1).waitFor()
      await page.getByRole('heading', { level: 1 }).click()
      await page.keyboard.press('/')
      assert.equal(await isFocused(page.getByLabel('Search users')), true)
      await page.keyboard.press('ArrowDown')
      assert.equal(await isFocused(page.getByRole('grid')), true)
      await page.keyboard.press('Space')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Space')
      await page.getByText('2 selected').waitFor()
      assert.equal(await row(2).getAttribute('aria-selected'), 'true')
      await page.keyboard.press('Space')
      await page.getByText('1 selected').waitFor()
      await page.keyboard.press('Escape')
      await page.getByText('1 selected').waitFor({ state: 'detached' })
      await page.keyboard.press('Control+a')
      await page.getByText(`${count} selected`).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: toEmail(2) }).waitFor()
      // A slash in a field is only a character.
      await page.getByLabel('Search users').fill('')
      await page.getByLabel('Search users').press('/')
      assert.equal(await page.getByLabel('Search users').inputValue(), '/')
    })

    await run('several users are banned at once', async () => {
      await openList('&sort=email')
      await page.getByLabel(`Select ${toEmail(1)}`).click()
      await page.getByLabel(`Select ${toEmail(5)}`).click({ modifiers: ['Shift'] })
      await page.getByText('5 selected').waitFor()
      await page.getByRole('button', { name: 'Ban…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Ban 5 users?' })
      await dialog.getByText(toEmail(1)).waitFor()
      await dialog.getByLabel('One week').check()
      await dialog.getByRole('button', { name: 'Ban', exact: true }).click()
      await page.getByText('5 users were banned.').waitFor()
      await row(5).getByText('Banned').waitFor()
      assert.equal(await countUsers('banned=true'), 3 + 5)
      await page.getByText('5 selected').waitFor({ state: 'detached' })
    })

    await run(
      'a user found by search is banned or signed out with a button in the row',
      async () => {
        const email = toEmail(50)
        await switchTo(page, '/')
        // The four steps of the documentation.
        await page.getByRole('navigation').getByRole('link', { name: 'Users' }).click()
        await page.getByLabel('Search users').fill(email)
        await page.getByRole('button', { name: `Ban ${email}`, exact: true }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Ban', exact: true }).click()

        await row(50).getByText('Banned').waitFor()
        const countBanned = async () => (await call(`/api/users?banned=true&filter=${email}`)).total
        assert.equal(await countBanned(), 1)
        assert.equal(await page.getByRole('tablist').count(), 0, 'the row was not opened')
        await page.getByRole('button', { name: `Lift the ban of ${email}` }).click()
        await page.getByText(`The ban of ${email} was lifted.`).waitFor()
        await row(50).getByText('Confirmed').waitFor()
        assert.equal(await countBanned(), 0)

        await page.getByRole('button', { name: `Revoke the sessions of ${email}` }).click()
        const dialog = page.getByRole('dialog', { name: `Revoke all sessions of ${email}?` })
        await dialog.getByRole('button', { name: 'Revoke sessions' }).click()
        await page.getByText(`${email} was signed out.`).waitFor()
      },
    )

    await run('the buttons of a row work with the keyboard', async () => {
      await openList('&sort=email')
      await page.getByLabel('Search users').focus()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('End')
      await page.keyboard.press('Home')
      await page.keyboard.press('ArrowRight')
      const ban = page.getByRole('button', { name: `Lift the ban of ${toEmail(1)}` })
      assert.equal(await isFocused(ban), true)
      await page.keyboard.press('ArrowLeft')
      assert.equal(await isFocused(page.getByRole('grid')), true)
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('ArrowRight')
      const remove = page.getByRole('button', { name: `Delete ${toEmail(1)}`, exact: true })
      assert.equal(await isFocused(remove), true)
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: `Delete ${toEmail(1)}?` })
      await dialog.waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      assert.equal(await isFocused(page.getByRole('grid')), true)
      await page.getByText(`${count} users matching “${domain}”`).waitFor()

      for (const _ of ['ban', 'sessions', 'delete']) await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Enter')
      await dialog.waitFor()
      await page.keyboard.press('Enter')
      await page.getByText(`${toEmail(1)} was deleted.`).waitFor()
      await row(1).waitFor({ state: 'detached' })
      // The button that had the focus belongs to another user now.
      assert.equal(await isFocused(page.getByRole('grid')), true)
      await page.getByText(`${count - 1} users matching “${domain}”`).waitFor()
    })

    await run('users who cannot be deleted are listed, and stay selected', async () => {
      await openList('&sort=-email')
      for (const number of [300, 299, 298]) {
        await page.getByLabel(`Select ${toEmail(number)}`).click()
      }
      await page.getByText('3 selected').waitFor()
      await runSql(world, 'delete from auth.users where email = $1', [toEmail(299)])
      await page.getByRole('button', { name: 'Delete…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
      await dialog.getByText('2 of 3 users deleted. 1 failed.').waitFor()
      const failures = dialog.getByRole('list', { name: 'Failures' })
      assert.equal(await failures.innerText(), `${toEmail(299)}: User not found`)
      assert.equal(browserErrors.length, 1)
      assert.match(browserErrors.pop() ?? '', /status of 404/)
      await dialog.getByRole('button', { name: 'Close' }).click()
      await page.getByText('1 selected').waitFor()
      await row(300).waitFor({ state: 'detached' })
      await page.getByText(`296 users matching “${domain}”`).waitFor()
    })

    await run('sessions of several users are revoked', async () => {
      const password = 'correct horse battery staple'
      const ids: string[] = []
      for (const name of ['one', 'two']) {
        const email = `${name}@${domain}`
        const user = await call('/api/users', 'POST', { email, password, email_confirm: true })
        ids.push(user.id)
        const answer = await fetch(`${world.baseUrls.auth}/token?grant_type=password`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email, password }),
        })
        assert.equal(answer.status, 200)
      }
      await openList('&signed_in=true')
      await page.getByText(/^2 users matching/).waitFor()
      await page.getByLabel('Select all users').click()
      await page.getByText('2 selected').waitFor()
      await page.getByRole('button', { name: 'Revoke sessions…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke sessions' }).click()
      await page.getByText('2 users were signed out.').waitFor()
      for (const id of ids) assert.deepEqual(await call(`/api/users/${id}/sessions`), [])
    })

    await run('the users of the current search are exported', async () => {
      const [{ id }] = (await call(`/api/users?filter=${toEmail(40)}`)).users
      const formula = '=HYPERLINK("http://evil.example","a, b")'
      await call(`/api/users/${id}`, 'PUT', { user_metadata: { full_name: formula } })
      await openList('&sort=email&banned=false')
      const expected = await countUsers('banned=false')
      const csv = await exportAs(page, 'CSV')
      assert.match(csv.name, /^users-\d{4}-\d\d-\d\d\.csv$/)
      const lines = csv.text.split('\r\n')
      assert.equal(lines.length, expected + 2, 'a header, and an empty line at the end')
      assert.match(lines[0] ?? '', /^id,email,phone,full_name,role,providers,/)
      const line = lines.find((each) => each.includes(toEmail(40))) ?? ''
      assert.ok(line.includes(`,"'=HYPERLINK(""http://evil.example"",""a, b"")",`), line)

      const jsonl = await exportAs(page, 'JSON Lines')
      const users = jsonl.text
        .trimEnd()
        .split('\n')
        .map((each) => JSON.parse(each))
      assert.equal(users.length, expected)
      const emails = users.map(({ email }) => email)
      assert.deepEqual(emails, emails.toSorted(), 'in the order of the list')
      assert.equal(
        users.find(({ email }) => email === toEmail(40)).user_metadata.full_name,
        formula,
      )
    })

    await run('an export can be cancelled', async () => {
      await openList()
      const requested = Promise.withResolvers<void>()
      await page.route(/\/api\/users\?.*limit=1000/, () => requested.resolve())
      await page.getByRole('button', { name: 'Export…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Export', exact: true }).click()
      await requested.promise
      await dialog.getByRole('progressbar').waitFor()
      await dialog.getByRole('button', { name: 'Cancel export' }).click()
      await dialog.getByRole('progressbar').waitFor({ state: 'detached' })
      await page.unroute(/\/api\/users\?.*limit=1000/)
      await dialog.getByRole('button', { name: 'Close' }).click()
    })

    await run('emails for a user arrive in the mailbox', async () => {
      const confirmed = `settled@${domain}`
      const unconfirmed = `waiting@${domain}`
      const invited = `invited@${domain}`
      await call('/api/users', 'POST', { email: confirmed, email_confirm: true })
      await call('/api/users', 'POST', { email: unconfirmed })
      await call('/api/users/invite', 'POST', { email: invited })
      for (const [email, title, subject] of [
        [confirmed, 'Reset password', /password/i],
        [confirmed, 'Sign in (magic link)', /magic link/i],
        [unconfirmed, 'Confirm sign-up', /confirm/i],
        [invited, 'Invite', /invite/i],
      ] as const) {
        await page.goto(`${world.consoleUrl}/users?q=${email}`)
        await page.getByRole('link', { name: email }).click()
        await page.getByRole('button', { name: 'Send email…' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel(title).check()
        await dialog.getByRole('button', { name: 'Send', exact: true }).click()
        await page.getByText(`Email sent to ${email}: ${title}.`).waitFor()
        const read = async () => {
          const { messages } = await call('/api/mailbox/messages')
          return messages.filter((each: object) => JSON.stringify(each).includes(email))
        }
        const isThere = (messages: readonly { readonly subject: string }[]) =>
          messages.filter((each) => subject.test(each.subject)).length >=
          (email === invited ? 2 : 1)
        // The outbox sends it a moment later.
        while (!isThere(await read())) await page.getByRole('heading', { level: 1 }).waitFor()
      }
    })

    await run('an impersonation link signs in, and the audit log names it', async () => {
      const email = `settled@${domain}`
      await switchTo(page, `/users?q=${email}`)
      await page.getByRole('link', { name: email }).click()
      await page.getByRole('button', { name: 'Impersonate…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('The audit log records the link as impersonation.').waitFor()
      await dialog.getByRole('button', { name: 'Generate link' }).click()
      const link = await page.getByLabel('Link', { exact: true }).innerText()
      const answer = await fetch(link, { redirect: 'manual' })
      assert.match(answer.headers.get('location') ?? '', /#.*access_token=/)
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('tab', { name: 'Activity' }).click()
      const entry = page
        .getByRole('listitem')
        .filter({ hasText: 'A link to impersonate the user was generated' })
      await entry.getByText(/by portcullis-console \(service_role\)/).waitFor()
      await page.getByText('A sign-in or recovery email was sent').first().waitFor()
    })
  } finally {
    await removeManyUsers(world, domain)
  }
}

async function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === document.activeElement)
}

/** Exports the users that the page shows. */
async function exportAs(
  page: Page,
  format: string,
): Promise<{ readonly name: string; readonly text: string }> {
  await page.getByRole('button', { name: 'Export…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(format).check()
  const downloaded: Promise<Download> = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Export', exact: true }).click()
  const download = await downloaded
  await dialog.waitFor({ state: 'detached' })
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
}
