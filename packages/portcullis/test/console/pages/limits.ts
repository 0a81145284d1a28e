import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { openConsole } from '../../../src/console/console.ts'
import { chooseCompletion, editorOf, fillEditor, readEditor } from '../../support/editor.ts'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import { createBaseUrls } from '../../support/world.ts'
import { findFaultsOfState } from './accessibility.ts'
import type { RunSuite } from './suite.ts'

/** A separate file, so that other suites find the rules they expect. */
const file = 'limits-page.yaml'
const rules = `domain: limits-page
descriptors:
  - key: user
    rate_limit:
      unit: day
      requests_per_unit: 2
  - key: tenant
    descriptors:
      - key: operation
        value: export
        rate_limit:
          unit: day
          requests_per_unit: 20
`

const policyTests = `domain: limits-page
tests:
  - name: a user gets seven calls a day
    steps:
      - request: { descriptors: [{ user: ada }] }
        times: 7
        expect: ok
  - name: an eighth call is allowed
    steps:
      - request: { descriptors: [{ user: ada }] }
        times: 8
        expect: ok
`

/** On a busy machine the console may stop waiting before the service has loaded the rules. */
const saved = /Saved( and in force)?\./

export const testLimits: RunSuite = async (t, { browser, world }) => {
  const path = join(world.folder, 'rules', file)
  // One visitor for all tests, because opening a new page takes longer than most tests.
  const entryUrl = world.entryUrl.replace('/?', '/limits?view=files&')
  await using visitor = await openVisitor(browser, entryUrl)
  const { page, browserErrors } = visitor

  await t.test('a rule file is created in the dialog and takes effect at once', async () => {
    await page.getByRole('button', { name: 'New file' }).click()
    await page.getByLabel('File name').fill('limits-page')
    await page.getByLabel('Domain').fill('limits-page')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText(`${file} was created. The service has loaded the file.`).waitFor()
    assert.match(await readEditor(textOf(page)), /^domain: "limits-page"/)
    await fillEditor(textOf(page), rules)
    await page.getByText('No errors').waitFor()
    await reviewAndSave(page)
    await page.getByText(saved).waitFor()
    assert.equal(readFileSync(path, 'utf8'), rules)
  })

  await t.test(
    'a click on a rule fills the form; counters change, and the decision is explained',
    async () => {
      await switchTo(page, '/limits')
      const domain = domainRows(page)
      await domain.getByRole('button', { name: 'user', exact: true }).click()
      assert.equal(await page.getByLabel('Domain').inputValue(), 'limits-page')
      await page.getByLabel('Value 1').fill('ada')
      const send = page.getByRole('button', { name: 'Send', exact: true })

      await send.click()
      await page.getByText('1 left of 2 per day').waitFor()
      await page.getByText('a rule without a value').waitFor()
      await page.getByText('This rule limits the request.').waitFor()
      const user = domain.getByRole('row').filter({ hasText: '2 per day' })
      await waitForCount(user, 'Total', '1')

      const columns = await user.evaluate(columnsOf)
      await page.getByLabel('Hits', { exact: true }).fill('300')
      await send.click()
      await page.getByText('Over limit').waitFor()
      await waitForCount(user, 'Total', '301')
      await waitForCount(user, 'Over', '299')
      assert.deepEqual(await user.evaluate(columnsOf), columns, 'no column has moved')

      await page.getByLabel('Dry run').check()
      await send.click()
      await page.getByText('0 left of 2 per day').waitFor()
      await waitForCount(user, 'Total', '301')
    },
  )

  await t.test(
    'the keys that were limited most are listed, and a counter can be reset',
    async () => {
      await switchTo(page, '/limits?view=keys')
      const key = page.getByRole('button', { name: 'limits-page user=ada' })
      const row = page.getByRole('row').filter({ has: key })
      await row.getByRole('cell', { name: '299' }).waitFor()
      await page.getByText('The numbers are exact.').waitFor()
      await page.getByRole('tab', { name: 'All hits' }).click()
      await row.getByRole('cell', { name: '301' }).waitFor()
      await page.getByText('No key selected').waitFor()

      await key.click()
      const counter = page.getByRole('complementary', { name: 'Counter' })
      await counter.getByText('301 of 2').waitFor()
      await counter.getByText('Limit reached').waitFor()
      assert.match(
        await counter.getByText(/:00:00 to /).innerText(),
        /^\d+ \w+ \d{4}, [\d:]+ to \d+ \w+ \d{4}, [\d:]+$/,
      )
      await counter.getByRole('button', { name: 'Reset counter' }).click()
      await page.getByText('The counter was reset.').waitFor()
      await counter.getByText('0 of 2').waitFor()
      await counter.getByText('2 left').waitFor()
    },
  )

  await t.test(
    'a long list of files leaves the editor in view, and shows the open file',
    async () => {
      const modifiedAt = new Date().toISOString()
      const others = Array.from({ length: 300 }, (_, n) => ({
        name: `file-${n}.yaml`,
        bytes: 1,
        modifiedAt,
      }))
      await page.route('**/api/limits/files', (route) =>
        route.fulfill({ json: [...others, { name: file, bytes: 1, modifiedAt }] }),
      )
      const before = page.viewportSize() ?? { width: 1280, height: 720 }
      for (const size of [before, { width: 390, height: 844 }]) {
        await page.setViewportSize(size)
        await switchTo(page, `/limits?view=files&file=${file}`)
        await textOf(page).waitFor()
        const list = page.getByRole('region', { name: 'Rule files' })
        for (const shown of [
          list.getByRole('link', { name: file }),
          list.getByRole('button', { name: 'New file' }),
        ]) {
          const box = await shown.boundingBox()
          assert.ok(box && box.y >= 0 && box.y + box.height <= size.height, `${size.width} px`)
        }
        const editor = await textOf(page).boundingBox()
        assert.ok(editor && editor.y < size.height, `${size.width} px: the editor is in view`)
      }
      await page.setViewportSize(before)
      await page.unroute('**/api/limits/files')
    },
  )

  await t.test('each rule has a history, which includes the latest hits', async () => {
    // A separate domain, whose rule has no hits before this test.
    const ownPath = join(world.folder, 'rules', 'limits-history.yaml')
    writeFileSync(ownPath, rules.replace('limits-page', 'limits-history'))
    try {
      await switchTo(page, '/limits')
      const domain = domainRows(page, 'limits-history')
      await domain.getByRole('button', { name: 'History of user' }).click()
      const dialog = page.getByRole('dialog', { name: 'History of user' })
      // To show this, the console has read the counters before the hits.
      await dialog.getByText('No hits were recorded in this time.').waitFor()
      const hit = async () => {
        const answer = await fetch(`${world.baseUrls.ratelimit}/json`, {
          method: 'POST',
          body: JSON.stringify({
            domain: 'limits-history',
            descriptors: [{ entries: [{ key: 'user', value: 'ada' }] }],
            hitsAddend: 301,
          }),
        })
        const { overallCode }: { overallCode?: string } = await answer.json()
        return overallCode
      }
      // Until the service has loaded the file, it allows the request and counts nothing.
      while ((await hit()) !== 'OVER_LIMIT') assert.equal(await dialog.count(), 1)
      for (const range of ['24 hours', '7 days', '1 hour']) {
        await dialog.getByRole('tab', { name: range }).click()
        await dialog.getByText(/^301 hits, 299 over the limit/).waitFor()
        await dialog.getByRole('img', { name: /^Hits per second: / }).waitFor()
      }
      await dialog.getByRole('button', { name: 'Close' }).click()
      await dialog.waitFor({ state: 'detached' })
    } finally {
      rmSync(ownPath)
    }
  })

  await t.test('a limit is changed in its row, and the effect is shown before', async () => {
    const decide = async (tenant: string) => {
      const entries = [
        { key: 'tenant', value: tenant },
        { key: 'operation', value: 'export' },
      ]
      const body = { domain: 'limits-page', descriptors: [{ entries }], hitsAddend: 9 }
      const answer = await fetch(`${world.baseUrls.ratelimit}/json`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      const { overallCode }: { overallCode?: string } = await answer.json()
      return overallCode
    }
    assert.equal(await decide('acme'), 'OK')
    await switchTo(page, '/limits')
    await domainRows(page)
      .getByRole('button', { name: 'Change the limit of operation = export' })
      .click()
    const dialog = page.getByRole('dialog', { name: /^Change the limit of tenant › operation/ })
    await dialog.getByText('No request would be decided differently.').waitFor()
    await dialog.getByLabel('Requests', { exact: true }).fill('5')
    await dialog.getByText('1 request would be decided differently.').waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The limit is now 5 per day.').waitFor()
    await domainRows(page).getByText('5 per day').waitFor()
    assert.equal(
      readFileSync(path, 'utf8'),
      rules.replace('requests_per_unit: 20', 'requests_per_unit: 5'),
    )
    assert.equal(await decide('globex'), 'OVER_LIMIT')
  })

  await t.test('the buttons of a high dialog stay visible', async () => {
    const size = page.viewportSize()
    await page.setViewportSize({ width: 1280, height: 420 })
    await domainRows(page)
      .getByRole('button', { name: 'Change the limit of operation = export' })
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Requests', { exact: true }).fill('1')
    await dialog.getByRole('table').waitFor()
    const [content, shown] = await dialog.evaluate((each) => [each.scrollHeight, each.clientHeight])
    assert.ok(Number(content) > Number(shown), 'the dialog scrolls')
    const cancel = dialog.getByRole('button', { name: 'Cancel' })
    const isReachable = await cancel.evaluate((each) => {
      const { left, top, width, height } = each.getBoundingClientRect()
      return each.contains(document.elementFromPoint(left + width / 2, top + height / 2))
    })
    assert.equal(isReachable, true)
    await cancel.click()
    await page.setViewportSize(size ?? { width: 1280, height: 720 })
  })

  await t.test('a lost connection is shown', async () => {
    const ratelimit = { debugUrl: createBaseUrls(world.folder)('debug') }
    const settings = {
      host: '127.0.0.1',
      version: '1.2.3',
      port: 0,
      token: 'limits-page',
      ratelimit,
    }
    const other = await openConsole(settings)
    await using watcher = await openVisitor(browser, other.entryUrl.replace('/?', '/limits?'))
    await watcher.page.getByText('Live', { exact: true }).waitFor()
    await other[Symbol.asyncDispose]()
    await watcher.page.getByText('Reconnecting…', { exact: true }).waitFor()
    const isWanted = /ERR_(?:CONNECTION|EMPTY|INCOMPLETE|NETWORK|SOCKET)/
    for (const error of watcher.browserErrors.splice(0)) assert.match(error, isWanted)
  })

  await t.test('a request that matches no rule shows near misses', async () => {
    await switchTo(page, '/limits')
    await domainRows(page).getByRole('button', { name: 'operation = export', exact: true }).click()
    // The focus is on the last value of the clicked rule.
    assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Value 2')
    await page.getByLabel('Value 2').fill('Export')
    await page.keyboard.press('Enter')
    await page.getByText('No limit applies').waitFor()
    await page.getByText(/values are case-sensitive/).waitFor()
  })

  await t.test('a search filters the rules, and a domain can be collapsed', async () => {
    await switchTo(page, '/limits')
    const domain = domainRows(page)
    const tenant = domain.getByRole('button', { name: 'tenant', exact: true })
    const user = domain.getByRole('button', { name: 'user', exact: true })
    await page.getByLabel('Search rules').fill('limits-page export')
    await tenant.waitFor()
    await user.waitFor({ state: 'detached' })
    await page.getByLabel('Search rules').fill('')
    await user.waitFor()
    const fold = domain.getByRole('button', { name: 'limits-page' })
    await fold.click()
    assert.equal(await fold.getAttribute('aria-expanded'), 'false')
    await user.waitFor({ state: 'detached' })
  })

  await t.test(
    'an error is marked while typing; once fixed, the new limit takes effect',
    async () => {
      await switchTo(page, '/limits')
      await domainRows(page).getByRole('link', { name: 'Edit user' }).click()
      const text = textOf(page)
      await fillEditor(text, rules.replace('unit: day', 'unit: days'))
      await page.getByText("Invalid rate limit unit 'days'").waitFor()
      await text.locator('.cm-lintRange-error', { hasText: 'days' }).waitFor()
      assert.equal(await text.getAttribute('aria-invalid'), 'true')
      const save = page.getByRole('button', { name: 'Review and save' })
      assert.equal(await save.isDisabled(), true)
      await page.getByRole('button', { name: 'Line 5, column 13' }).click()
      await page.keyboard.insertText('2 ')
      assert.equal((await readEditor(text)).split('\n')[4], '      unit: 2 days')

      await fillEditor(text, rules.replace('requests_per_unit: 2\n', 'requests_per_unit: 7\n'))
      await page.getByText('No errors').waitFor()
      await reviewAndSave(page)
      await page.getByText(saved).waitFor()
      await page.getByRole('link', { name: 'Rules in force' }).click()
      await domainRows(page).getByText('7 per day').waitFor()
    },
  )

  await t.test(
    'keys and values are completed from the schema, and keys are explained',
    async () => {
      await switchTo(page, `/limits?view=files&file=${file}`)
      const text = textOf(page)
      await fillEditor(text, 'domain: limits-page\ndescriptors:\n  - key: user\n    ')
      await page.keyboard.type('rate')
      // A click, because the editor ignores Enter in the first moments after the list has opened.
      await chooseCompletion(page, 'rate_limit')
      await page.keyboard.type('un')
      await page.getByRole('option', { name: /^unit_multiplier/ }).waitFor()
      await chooseCompletion(page, 'unit')
      await page.keyboard.type('m')
      await page.getByRole('option', { name: 'minute', exact: true }).waitFor()
      await page.getByRole('option', { name: 'month', exact: true }).waitFor()
      await chooseCompletion(page, 'minute')
      assert.equal(
        (await readEditor(text)).split('\n').slice(3).join('\n'),
        '    rate_limit:\n      unit: minute',
      )
      await text.getByText('rate_limit').hover()
      await page.getByText('The number of hits that are allowed in a time window.').waitFor()
      await page.getByRole('button', { name: 'Discard' }).click()
    },
  )

  await t.test(
    'the dialog before saving shows the changes and replays the latest requests',
    async () => {
      const decide = () =>
        fetch(`${world.baseUrls.ratelimit}/json`, {
          method: 'POST',
          body: JSON.stringify({
            domain: 'limits-page',
            descriptors: [{ entries: [{ key: 'user', value: 'replayed' }] }],
          }),
        })
      for (let call = 0; call < 3; call += 1) await decide()
      await switchTo(page, `/limits?view=files&file=${file}`)
      await textOf(page).waitFor()
      const text = await readEditor(textOf(page))
      await fillEditor(textOf(page), text.replace('requests_per_unit: 7', 'requests_per_unit: 2'))
      await page.getByText('No errors').waitFor()
      await page.keyboard.press('Control+s')
      const dialog = page.getByRole('dialog', { name: `Save ${file}?` })
      await dialog.getByText('1 request would be decided differently.').waitFor()
      const row = dialog.getByRole('row').filter({ hasText: 'Refused' }).first()
      assert.match(
        (await row.textContent()) ?? '',
        /limits-page user=replayed.*Allowed7 per day.*Refused2 per day.*1$/s,
      )
      await dialog.locator('.cm-deletedChunk', { hasText: 'requests_per_unit: 7' }).waitFor()
      assert.deepEqual(await findFaultsOfState(page), [])
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Discard' }).click()
      assert.equal(await readEditor(textOf(page)), text)
    },
  )

  await t.test('policy tests are written, run against the draft, and explained', async () => {
    const testFile = 'limits-page.test.yaml'
    await page.getByRole('button', { name: 'New file' }).click()
    await page.getByLabel('File name').fill('limits-page.test')
    await page.getByLabel('Domain').fill('limits-page')
    await page.getByRole('button', { name: 'Create' }).click()
    const tests = editorOf(page, `Content of ${testFile}`)
    await fillEditor(tests, policyTests)
    await page.getByText('No errors').waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByText('1 of 2 tests failed.').waitFor()
    await page.getByText('Line 12: expected ok, got over_limit').waitFor()
    await page.getByText('rule limits-page.user at').waitFor()
    assert.deepEqual(await findFaultsOfState(page), [])
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The service does not load policy tests.').waitFor()

    // A draft of the rules makes the tests pass, before it is saved.
    await switchTo(page, `/limits?view=files&file=${file}`)
    await textOf(page).waitFor()
    const text = await readEditor(textOf(page))
    await fillEditor(textOf(page), text.replace('requests_per_unit: 7', 'requests_per_unit: 8'))
    await page.getByRole('button', { name: 'Run tests' }).click()
    await page.getByText('2 tests passed.').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()

    await switchTo(page, `/limits?view=files&file=${testFile}`)
    await page.getByRole('button', { name: `Delete ${testFile}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText(`${testFile} was deleted.`).waitFor()
  })

  await t.test('Tab indents, and Escape followed by Tab leaves the editor', async () => {
    await page.goto(`${world.consoleUrl}/limits?view=files&file=${file}&line=3`)
    const text = textOf(page)
    await text.locator('.cm-activeLine', { hasText: 'user' }).waitFor()
    await page.keyboard.press('Tab')
    assert.equal((await readEditor(text)).split('\n')[2], '    - key: user')
    await page.keyboard.press('Control+z')
    assert.equal((await readEditor(text)).split('\n')[2], '  - key: user')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    assert.equal(await text.evaluate((content) => content.matches(':focus')), false)
  })

  await t.test('changes made on disk in the meantime are not overwritten', async () => {
    await switchTo(page, `/limits?view=files&file=${file}`)
    await fillEditor(textOf(page), `# mine\n${rules}`)
    writeFileSync(path, `# theirs\n${rules}`)
    await page.getByText('No errors').waitFor()
    await reviewAndSave(page)
    await page.getByText('has changed on disk').waitFor()
    assert.match(browserErrors.splice(0).join(), /409/)
    await page.getByRole('button', { name: 'Discard changes and reload' }).click()
    await textOf(page).getByText('# theirs').waitFor()
  })

  await t.test('it fits a narrow window, and a file can be deleted there', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await switchTo(page, '/limits')
    const user = domainRows(page).getByRole('row').filter({ hasText: '2 per day' })
    await user.waitFor()
    assert.equal(await page.evaluate(overflow), 0)
    const [row, last] = await user.evaluate((each) =>
      [each, each.lastElementChild].map((part) => part?.getBoundingClientRect().right ?? 0),
    )
    assert.ok(Number(last) <= Number(row), 'the last number is inside its card')
    await user.getByRole('button', { name: 'Change the limit of user' }).click()
    const changes = page.getByRole('dialog').locator('.limits-changes')
    await page.getByRole('dialog').getByLabel('Requests', { exact: true }).fill('1')
    await changes.waitFor()
    const hidden = await changes.evaluate((each) => each.scrollWidth - each.clientWidth)
    assert.equal(hidden, 0, 'the changes fit into the dialog')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await switchTo(page, '/limits?view=keys')
    await page.getByRole('tab', { name: 'All hits' }).click()
    await page.getByRole('button', { name: 'limits-page user=ada' }).click()
    await page.getByRole('button', { name: 'Reset counter' }).waitFor()
    assert.equal(await page.evaluate(overflow), 0)
    await switchTo(page, `/limits?view=files&file=${file}`)
    await textOf(page).waitFor()
    assert.equal(await page.evaluate(overflow), 0)
    await page.getByRole('button', { name: `Delete ${file}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText(`${file} was deleted.`).waitFor()
    await page.getByRole('link', { name: file }).waitFor({ state: 'detached' })
  })
}

function textOf(page: Page): Locator {
  return editorOf(page, `Content of ${file}`)
}

/** Confirms the dialog with the changes. */
async function reviewAndSave(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Review and save' }).click()
  const dialog = page.getByRole('dialog', { name: `Save ${file}?` })
  await dialog.getByText('Replaying the latest requests…').waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Save' }).click()
}

function domainRows(page: Page, domain = 'limits-page'): Locator {
  return page.getByRole('rowgroup').filter({
    has: page.getByRole('button', { name: domain, exact: true }),
  })
}

async function waitForCount(row: Locator, title: string, count: string): Promise<void> {
  await row.locator(`td[data-title="${title}"]`).getByText(count, { exact: true }).waitFor()
}

/** Runs in the page. Returns the start and the digit width of each cell. */
function columnsOf(row: Element): readonly string[] {
  return [...row.children].map((cell) => {
    const { left } = cell.getBoundingClientRect()
    const digits = cell.matches('.number') ? getComputedStyle(cell).fontVariantNumeric : ''
    return `${left} ${digits}`
  })
}

function overflow(): number {
  return document.documentElement.scrollWidth - document.documentElement.clientWidth
}
