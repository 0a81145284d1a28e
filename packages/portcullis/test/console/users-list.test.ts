import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { User } from '../../src/console/routes/users-upstream.ts'
import {
  moveTo,
  rowHeightsPx,
  startOfList,
  toContentHeight,
  toPlaceOf,
  toRowRange,
} from '../../src/web/pages/users/list/list-window.ts'
import { createUserPages, type UserPage } from '../../src/web/pages/users/list/user-pages.ts'

const viewportPx = 600
const rowPx = rowHeightsPx.comfortable

test('only the visible rows and a few more are rendered', () => {
  const size = { total: 100_000, viewportPx, rowPx }
  const place = moveTo(startOfList, 50_000 * rowPx, size)
  const { first, end } = toRowRange(place, size)
  assert.ok(first <= 50_000 && end > 50_000 + viewportPx / rowPx)
  assert.ok(end - first < 30)
})

test('a list too tall for a browser is scaled down, and both ends can be reached', () => {
  const size = { total: 10_000_000, viewportPx, rowPx }
  const height = toContentHeight(size)
  assert.ok(height < 17_000_000)
  const end = moveTo(startOfList, height - viewportPx, size)
  assert.equal(toRowRange(end, size).end, size.total)
  assert.equal(toRowRange(moveTo(end, 0, size), size).first, 0)
})

test('a small step in a scaled list skips no row', () => {
  const size = { total: 10_000_000, viewportPx, rowPx }
  const middle = moveTo(startOfList, toContentHeight(size) / 2, size)
  const next = moveTo(middle, middle.scrollTop + rowPx, size)
  assert.equal(toRowRange(next, size).first - toRowRange(middle, size).first, 1)
})

test('any row of a scaled list can be scrolled into view, and stays there', () => {
  const size = { total: 10_000_000, viewportPx, rowPx }
  for (const index of [0, 7, 1_234_567, 9_999_999]) {
    const place = toPlaceOf(index, startOfList, size)
    for (const each of [place, moveTo(place, place.scrollTop, size)]) {
      const top = index * rowPx - each.shiftPx - each.scrollTop
      assert.ok(top >= 0 && top + rowPx <= viewportPx, `row ${index} is at ${top}`)
    }
  }
})

/** Responds only when the test calls `answer`. */
function openSource(total: number) {
  const requests: { page: number; signal: AbortSignal; answer: () => void }[] = []
  const load = (page: number, signal: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<UserPage>()
    const users = Array.from({ length: 50 }, (_, index) => toUser(page * 50 + index))
    requests.push({ page, signal, answer: () => resolve({ users, total }) })
    return promise
  }
  return { requests, load }
}

function toUser(number: number): User {
  return {
    ...{ id: `id-${number}`, role: '', email: `${number}@example.com`, phone: '' },
    ...{ created_at: '', updated_at: '', is_anonymous: false },
    ...{ app_metadata: {}, user_metadata: {}, identities: [] },
  }
}

/** Longer than the pause between requests. */
const pauseMs = 100

test('requests for pages that are no longer visible are aborted', async () => {
  const { requests, load } = openSource(100_000)
  let changes = 0
  const pages = createUserPages({ load, onChange: () => changes++ })
  pages.show({ first: 0, end: 20 })
  await sleep(pauseMs)
  assert.deepEqual(
    requests.map(({ page }) => page),
    [0],
  )
  requests[0]?.answer()
  await sleep(0)
  assert.equal(pages.total, 100_000)

  pages.show({ first: 1_000, end: 1_010 })
  await sleep(pauseMs)
  pages.show({ first: 50_030, end: 50_040 })
  await sleep(pauseMs)
  const given = requests.slice(1).map(({ page, signal }) => [page, signal.aborted])
  assert.deepEqual(given, [
    [19, true],
    [20, true],
    [1000, false],
    [1001, false],
  ])
  for (const { answer } of requests) answer()
  await sleep(0)
  assert.equal(pages.at(1_000), undefined)
  assert.equal(pages.at(50_030)?.email, '50030@example.com')
  assert.ok(changes >= 2)
  pages.close()
})

test('loaded users stay visible during a reload', async () => {
  const { requests, load } = openSource(10)
  const pages = createUserPages({ load, onChange: () => {} })
  pages.show({ first: 0, end: 10 })
  await sleep(pauseMs)
  requests[0]?.answer()
  await sleep(0)
  pages.reload()
  assert.equal(pages.at(3)?.id, 'id-3')
  await sleep(pauseMs)
  assert.equal(requests.length, 2)
  pages.close()
})

test('a failure is kept until a request succeeds', async () => {
  const answers = [() => Promise.reject(new Error('away')), async () => ({ users: [], total: 0 })]
  const pages = createUserPages({
    load: () => answers.shift()?.() ?? Promise.reject(new Error('unexpected request')),
    onChange: () => {},
  })
  pages.show({ first: 0, end: 10 })
  await sleep(pauseMs)
  assert.match(String(pages.error), /away/)
  pages.reload()
  await sleep(pauseMs)
  assert.deepEqual([pages.error, pages.total], [undefined, 0])
  pages.close()
})
