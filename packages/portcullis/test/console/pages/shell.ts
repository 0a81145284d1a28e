import assert from 'node:assert/strict'
import { openVisitor } from '../../support/visitor.ts'
import type { RunSuite } from './suite.ts'

export const testShell: RunSuite = async (t, scene) => {
  await t.test('every page of the list opens, by click and by address', async () => {
    await using visitor = await openVisitor(scene.browser, scene.world.entryUrl)
    const { page } = visitor
    const links = await page.getByRole('navigation').getByRole('link').all()
    assert.equal(links.length, 6)
    for (const link of links) {
      await link.click()
      await page.getByRole('heading', { level: 1 }).waitFor()
      assert.equal(await link.getAttribute('aria-current'), 'page')
      await page.reload()
      await page.getByRole('heading', { level: 1 }).waitFor()
    }
  })
}
