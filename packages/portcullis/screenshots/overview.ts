import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { createAdminKeys, provideSecrets } from '../src/up/secrets.ts'
import type { TestWorld } from '../test/support/world.ts'

const people = ['ada', 'grace', 'edsger', 'barbara', 'donald', 'katherine']
const password = 'correct horse battery staple'
const rounds = 12

/** Generates traffic for long enough that the charts show lines. */
export async function showBusyOverview(page: Page, world: TestWorld): Promise<void> {
  const { auth, graphql, ratelimit } = world.baseUrls
  const key = await createAdminKeys(provideSecrets(world.folder).jwtSecret)()
  await page.goto(world.consoleUrl)
  for (const name of people) {
    const user = { email: `${name}@example.net`, password, email_confirm: true }
    await post(`${auth}/admin/users`, user, { authorization: `Bearer ${key}` })
  }
  for (let round = 0; round < rounds; round += 1) {
    const signIns = people
      .slice(0, 1 + (round % 3))
      .map((name) =>
        post(`${auth}/token?grant_type=password`, { email: `${name}@example.net`, password }),
      )
    const queries = toMany(2, () => post(`${graphql}/graphql`, { query: '{ hello }' }))
    const decisions = toMany(8 + Math.round(6 * Math.sin(round / 2)), () =>
      post(`${ratelimit}/json`, {
        domain: 'api',
        descriptors: [{ entries: [{ key: 'path', value: '/admin/users' }] }],
      }),
    )
    await Promise.all([...signIns, ...queries, ...decisions, sleep(1_000)])
  }
  await page.getByText('Signed in').first().waitFor()
}

async function post(url: string, body: unknown, headers = {}): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  await answer.arrayBuffer()
}

function toMany<Value>(count: number, make: () => Value): Value[] {
  return Array.from({ length: count }, make)
}
