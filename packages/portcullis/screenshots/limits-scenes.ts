import type { Page } from 'playwright-core'
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
  await page.getByRole('button', { name: 'operation = search' }).click()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('heading', { name: 'Why' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.evaluate(() => scrollTo(0, 0))
}

/** Shows a rule file with an error. */
export async function showRuleFiles(page: Page, { consoleUrl }: TestWorld): Promise<void> {
  await page.goto(`${consoleUrl}/limits?view=files&file=api.yaml`)
  const text = page.getByRole('textbox', { name: 'Content of api.yaml' })
  await text.fill((await text.inputValue()).replace('unit: second', 'unit: seconds'))
  await page.getByText('1 error').waitFor()
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
