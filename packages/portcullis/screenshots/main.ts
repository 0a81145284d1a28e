// Takes screenshots of every page of the console: light, dark and narrow.
//
//   npm run screenshots -- [DIR] [PAGE…]

import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openChromium } from '@portcullis/test-servers'
import { openVisitor } from '../test/support/visitor.ts'
import { openWorld } from '../test/support/world.ts'
import { scenes } from './scenes.ts'

const variants = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const

const [folder = 'artifacts/screenshots', ...wanted] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
await using world = await openWorld()
await using chromium = await openChromium()
for (const [variant, options] of Object.entries(variants)) {
  await using visitor = await openVisitor(chromium.browser, world.entryUrl, options)
  for (const [name, prepare] of Object.entries(scenes)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    await prepare(visitor.page, world)
    const path = resolve(join(folder, `${name}-${variant}.png`))
    await visitor.page.screenshot({ path, animations: 'disabled' })
    console.log(path)
  }
}
