import type { Page } from 'playwright-core'
import { editorOf, fillEditor, readEditor } from '../test/support/editor.ts'
import type { TestWorld } from '../test/support/world.ts'

const callers: readonly (readonly [key: string, value: string, hits: number])[] = [
  ['remote_address', '192.0.2.7', 74],
  ['remote_address', '192.0.2.8', 88],
  ['remote_address', '10.0.0.66', 5],
  ['remote_address', '10.0.0.66', 3],
  ['path', '/admin/users', 9],
  ['path', '/admin/keys', 4],
]

/** Shows rules with counters, and a decision about a request that matched one of them. */
export async function showLimits(page: Page, { consoleUrl, baseUrls }: TestWorld): Promise<void> {
  for (const [key, value, hitsAddend] of callers) {
    await requestDecision(baseUrls.ratelimit, 'api', [{ key, value }], hitsAddend)
  }
  await requestDecision(baseUrls.ratelimit, 'graphql', [{ key: 'operation', value: 'export' }], 7)
  await requestDecision(baseUrls.ratelimit, 'graphql', [{ key: 'user', value: 'ada' }], 12)
  await page.goto(`${consoleUrl}/limits`)
  await page.getByRole('button', { name: 'operation = search', exact: true }).click()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('heading', { name: 'Why' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.evaluate(() => scrollTo(0, 0))
}

/** Shows the keys with the most hits over their limit, and the counter of one of them. */
export async function showTopKeys(page: Page, { consoleUrl, baseUrls }: TestWorld): Promise<void> {
  for (const [index, user] of ['ada', 'grace', 'linus', 'margaret'].entries()) {
    const entries = [{ key: 'user', value: user }]
    await requestDecision(baseUrls.ratelimit, 'graphql', entries, 400 - 90 * index)
  }
  await page.goto(`${consoleUrl}/limits?view=keys`)
  await page.getByRole('tab', { name: 'All hits' }).click()
  await page.getByRole('button', { name: 'graphql user=ada' }).click()
  await page.getByRole('button', { name: 'Reset counter' }).waitFor()
}

/** Shows what a stricter limit of one rule changes. */
export async function showLimitChange(
  page: Page,
  { consoleUrl, baseUrls }: TestWorld,
): Promise<void> {
  await requestDecision(baseUrls.ratelimit, 'graphql', [{ key: 'user', value: 'ada' }], 12)
  await page.goto(`${consoleUrl}/limits`)
  await page.getByRole('button', { name: 'Change the limit of user' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Requests', { exact: true }).fill('5')
  await dialog.getByText('would be decided differently.').waitFor()
  await dialog.getByRole('table').waitFor()
}

/** Shows the history of a rule. */
export async function showRuleHistory(page: Page, { consoleUrl }: TestWorld): Promise<void> {
  await page.goto(`${consoleUrl}/limits`)
  await page.getByRole('button', { name: 'History of user' }).first().click()
  await page.getByRole('img', { name: /^Hits per second/ }).waitFor()
}

/** Shows a rule file with an error. */
export async function showRuleFiles(page: Page, { consoleUrl }: TestWorld): Promise<void> {
  await page.goto(`${consoleUrl}/limits?view=files&file=api.yaml`)
  const text = editorOf(page, 'Content of api.yaml')
  await text.waitFor()
  await fillEditor(text, (await readEditor(text)).replace('unit: second', 'unit: seconds'))
  await page.getByText('1 error').waitFor()
}

/** Shows what a stricter limit changes, before it is saved. */
export async function showRuleReview(
  page: Page,
  { consoleUrl, baseUrls }: TestWorld,
): Promise<void> {
  for (let call = 0; call < 12; call += 1) {
    await requestDecision(
      baseUrls.ratelimit,
      'graphql',
      [{ key: 'address', value: '192.0.2.7' }],
      1,
    )
  }
  await page.goto(`${consoleUrl}/limits?view=files&file=graphql.yaml`)
  const text = editorOf(page, 'Content of graphql.yaml')
  await text.waitFor()
  const changed = (await readEditor(text)).replaceAll(
    /requests_per_unit: \d+/g,
    'requests_per_unit: 5',
  )
  await fillEditor(text, changed)
  await page.getByRole('button', { name: 'Review and save' }).click()
  await page.getByText('would be decided differently.').waitFor()
}

async function requestDecision(
  url: string,
  domain: string,
  entries: readonly { readonly key: string; readonly value: string }[],
  hitsAddend: number,
): Promise<void> {
  const body = JSON.stringify({ domain, descriptors: [{ entries }], hitsAddend })
  await fetch(`${url}/json`, { method: 'POST', body })
}
