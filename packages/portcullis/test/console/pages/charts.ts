import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { ActivityState, DecisionsState } from '../../../src/console/routes/overview.ts'
import { openVisitor } from '../../support/visitor.ts'
import type { RunSuite } from './suite.ts'

const until = Date.parse('2026-11-15T12:00:00Z')
const firstKnown = 60
const gap = { start: 100, end: 120 }

/** An hour with a gap: nothing in the first 20 minutes, and nothing from 11:33:20 to 11:40. */
const points = Array.from({ length: 180 }, (_, index) => {
  const isKnown = index >= firstKnown && (index < gap.start || index >= gap.end)
  return isKnown ? { total: index, over: index / 10, shadow: 0 } : null
})

export const testCharts: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl, {
    timezoneId: 'Europe/Berlin',
    viewport: { width: 1280, height: 1000 },
    hasTouch: true,
  })
  const { page } = visitor
  await page.route(/\/api\/overview\/stream/, (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: toEvents(toRange(route.request().url())),
    }),
  )
  const card = page.getByRole('region', { name: 'Rate limit decisions' })
  const slider = card.getByRole('slider', { name: 'Decisions per second: time' })
  const reading = card.locator('.chart-reading')
  const reset = card.getByRole('button', { name: 'Reset zoom' })
  await page.goto(`${world.consoleUrl}/?range=1h`)
  await slider.waitFor()

  await t.test('times without data are gaps, and nothing is drawn over them', async () => {
    const lines = card.locator('.chart-plot > svg > svg > g > .line')
    assert.equal(await lines.count(), 2)
    const [before, after] = await Promise.all([
      lines.nth(0).boundingBox(),
      lines.nth(1).boundingBox(),
    ])
    const box = await slider.boundingBox()
    assert.ok(before && after && box)
    const step = box.width / (points.length - 1)
    const toX = (index: number) => box.x + index * step
    assert.ok(Math.abs(before.x - toX(firstKnown)) < 3, 'the line begins with the data')
    assert.ok(Math.abs(before.x + before.width - toX(gap.start - 1)) < 3)
    assert.ok(Math.abs(after.x - toX(gap.end)) < 3)
    assert.deepEqual(await card.locator('.gap text').allTextContents(), ['no data'])
    assert.equal(await card.locator('.gap rect').count(), 2)
  })

  await t.test('the axes have units, and the time zone is stated', async () => {
    await card.locator('svg text', { hasText: 'decisions per second' }).waitFor()
    await card.locator('svg text', { hasText: '12:30' }).waitFor()
    await card.getByText('Times in Europe/Berlin (GMT+1)').waitFor()
  })

  await t.test(
    'the crosshair shows the values of all lines: with mouse, finger and keyboard',
    async () => {
      const at = async (index: number) => {
        const box = await slider.boundingBox()
        assert.ok(box)
        return { x: box.x + (box.width * index) / (points.length - 1), y: box.y + box.height / 2 }
      }
      const known = await at(150)
      await page.mouse.move(known.x, known.y)
      const words = /12:50:00 – 12:50:20\s*all 150 \/s\s*over the limit 15 \/s/
      await reading.filter({ hasText: words }).waitFor()
      const unknown = await at(110)
      await page.mouse.move(unknown.x, unknown.y)
      await reading.filter({ hasText: /all no data\s*over the limit no data/ }).waitFor()
      await page.mouse.move(0, 0)
      await reading.waitFor({ state: 'detached' })

      await page.touchscreen.tap(known.x, known.y)
      await reading.filter({ hasText: words }).waitFor()
      await slider.blur()
      await reading.waitFor({ state: 'detached' })

      await slider.focus()
      await page.keyboard.press('End')
      await page.keyboard.press('ArrowLeft')
      await reading.filter({ hasText: 'all 178 /s' }).waitFor()
      const spoken = (await slider.getAttribute('aria-valuetext')) ?? ''
      assert.match(
        spoken,
        /^(?:15 Nov, )?12:59:20 – 12:59:40, all 178 \/s, over the limit 17\.8 \/s$/,
      )
      await page.keyboard.press('Home')
      await reading.filter({ hasText: 'all no data' }).waitFor()
    },
  )

  await t.test('dragging zooms both charts, and a reload keeps the zoom', async () => {
    await drag(page, 140 / 179, 160 / 179)
    await reset.waitFor()
    assert.match(page.url(), /\/\?range=1h&from=2026-11-15T11:46:\d\dZ&to=2026-11-15T11:53:\d\dZ$/)
    await page.getByRole('region', { name: 'Sign-ins' }).getByText('Reset zoom').waitFor()
    const zoomedUrl = page.url()
    const highest = async () =>
      Number(await card.locator('.chart text[text-anchor="end"]').last().textContent())
    assert.equal(await highest(), 200)
    await page.reload()
    await reset.waitFor()
    assert.equal(page.url(), zoomedUrl)
    await slider.focus()
    await page.keyboard.press('Home')
    await reading.filter({ hasText: 'all 140 /s' }).waitFor()
    await reset.click()
    await reset.waitFor({ state: 'detached' })
    await page.waitForURL((url) => url.search === '?range=1h')
  })

  await t.test('a click and a drag that is cancelled do not zoom', async () => {
    await drag(page, 0.5, 0.5)
    await drag(page, 0.3, 0.6, () => page.keyboard.press('Escape'))
    assert.equal(new URL(page.url()).search, '?range=1h')
  })

  await t.test('the keyboard and the buttons zoom too', async () => {
    await slider.focus()
    await page.keyboard.press('End')
    await page.keyboard.press('+')
    await reset.waitFor()
    const seconds = () => {
      const { searchParams } = new URL(page.url())
      const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''))
      return ((to ?? 0) - (from ?? 0)) / 1000
    }
    const half = (179 * 20) / 2
    assert.equal(seconds(), half)
    await card.getByRole('button', { name: 'Zoom in' }).click()
    await page.waitForURL(() => seconds() < half)
    await card.getByRole('button', { name: 'Zoom out' }).click()
    await page.waitForURL(() => seconds() === half)
    await slider.focus()
    await page.keyboard.press('-')
    await reset.waitFor({ state: 'detached' })
    await page.keyboard.press('+')
    await reset.waitFor()
    await page.keyboard.press('0')
    await reset.waitFor({ state: 'detached' })
  })

  await t.test('a table has the visible values, with each gap in one row', async () => {
    await card.getByText('Values as a table').click()
    const rows = card.getByRole('table').getByRole('row')
    await rows.nth(1).waitFor()
    const known = points.filter((point) => point !== null).length
    assert.equal(await rows.count(), 1 + known + 2)
    assert.match(
      (await rows.first().textContent()) ?? '',
      /Time.*all \(\/s\).*over the limit \(\/s\)/,
    )
    assert.match((await rows.nth(1).textContent()) ?? '', /12:59:40 – 13:00:0017917\.9$/)
    await rows.filter({ hasText: '12:33:20 – 12:40:00no datano data' }).waitFor()
  })

  await t.test('a zoom without data says so, and an invalid one is ignored', async () => {
    await page.goto(
      `${world.consoleUrl}/?range=1h&from=2026-11-14T00:00:00Z&to=2026-11-14T01:00:00Z`,
    )
    await card.getByText('There are no points in this time range.').waitFor()
    await reset.click()
    await card.getByText('There are no points in this time range.').waitFor({ state: 'detached' })
    await page.goto(`${world.consoleUrl}/?range=1h&from=yesterday&to=2026-11-15T11:00:00Z`)
    await slider.waitFor()
    assert.equal(await reset.count(), 0)
  })

  await t.test('the range is in the URL; without one, the last range is used', async () => {
    const asked = page.waitForRequest(/\/api\/overview\/stream\?range=24h/)
    await page.getByRole('button', { name: '24 h' }).click()
    await asked
    assert.equal(new URL(page.url()).search, '?range=24h')
    const pressed = page.locator('.range-choice [aria-pressed="true"]')
    await page.reload()
    await slider.waitFor()
    assert.equal(await pressed.textContent(), '24 h')
    await page.goto(world.consoleUrl)
    await slider.waitFor()
    assert.equal(await pressed.textContent(), '24 h')
    await page.goto(`${world.consoleUrl}/?range=15m`)
    await slider.waitFor()
    assert.equal(await pressed.textContent(), '15 min')
  })
}

/** Drags over the first chart, between two shares of its width. */
async function drag(
  page: Page,
  from: number,
  to: number,
  beforeRelease?: () => Promise<void>,
): Promise<void> {
  const box = await page.locator('.chart-cursor').first().boundingBox()
  assert.ok(box)
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + from * box.width, y)
  await page.mouse.down()
  await page.mouse.move(box.x + to * box.width, y, { steps: 3 })
  await beforeRelease?.()
  await page.mouse.up()
}

function toRange(url: string): DecisionsState['range'] {
  return new URL(url).searchParams.get('range') as DecisionsState['range']
}

function toEvents(range: DecisionsState['range']): string {
  const decisions: DecisionsState = {
    range,
    points,
    stepSeconds: 20,
    until,
    sums: { hits: 1, over: 0, shadow: 0 },
    current: 1,
  }
  const values = Array.from({ length: 60 }, () => 1)
  const activity: ActivityState = {
    range,
    stepSeconds: 60,
    coveredSeconds: 60,
    until,
    succeeded: values,
    failed: values,
    current: { succeeded: 1, failed: 1 },
    hasFailures: true,
    isPartial: false,
    events: [],
  }
  const events = Object.entries({ decisions, activity }).map(
    ([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`,
  )
  // The connection ends with the response; the page must not reconnect during the test.
  return `retry: 3600000\n\n${events.join('')}`
}
