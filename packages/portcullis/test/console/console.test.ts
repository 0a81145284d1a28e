/**
 * @servers chromium
 * @slow
 */
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { createAccessEnvironment } from '../support/access-data.ts'
import { openWorld } from '../support/world.ts'
import { suites } from './pages/index.ts'

// Tests every page in a real browser, with everything that `portcullis up` starts. All suites share one world
// and one browser, because starting them takes longer than most of the tests.
test('the console', async (t) => {
  const chromium = await open(t, 'chromium')
  if (!chromium) return
  await using world = await openWorld([], createAccessEnvironment())
  const scene = { world, browser: chromium.browser }
  for (const [name, runSuite] of Object.entries(suites)) {
    await t.test(name, (suite) => runSuite(suite, scene))
  }
})
