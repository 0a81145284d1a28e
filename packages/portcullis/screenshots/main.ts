// Takes screenshots of every page of the console: light, dark and narrow.

import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { wrapText } from '@portcullis/service-kit/text/format'
import { openChromium } from '@portcullis/test-servers'
import { createAccessEnvironment } from '../test/support/access-data.ts'
import { openVisitor } from '../test/support/visitor.ts'
import { openWorld } from '../test/support/world.ts'
import { scenes } from './scenes.ts'

const variants = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const

const usage = `Usage: npm run screenshots -- [DIR [SCENE…]]

Takes screenshots of the pages of the console in Chromium: light, dark and
narrow.

  DIR    where the images are written; default: artifacts/screenshots
  SCENE  which pages; default: all

Scenes:
  ${wrapText(Object.keys(scenes).join(', '), 78).join('\n  ')}

Options:
  --help  show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const args = process.argv.slice(2)
const [folder = 'artifacts/screenshots', ...wanted] = args
const unknown = wanted.find((name) => !Object.hasOwn(scenes, name))
const option = args.find((arg) => arg.startsWith('-'))
if (option === '--help' || option === '-h') {
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}
if (option !== undefined || unknown !== undefined) {
  const fault = option === undefined ? `Unknown scene "${unknown}".` : `Unknown option ${option}.`
  process.stderr.write(toArgumentError('npm run screenshots --', fault))
  process.exit(2)
}

mkdirSync(folder, { recursive: true })
await using world = await openWorld([], createAccessEnvironment())
await using chromium = await openChromium()
for (const [variant, options] of Object.entries(variants)) {
  await using visitor = await openVisitor(chromium.browser, world.entryUrl, options)
  for (const [name, prepare] of Object.entries(scenes)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    await prepare(visitor.page, world)
    const path = resolve(join(folder, `${name}-${variant}.png`))
    await visitor.page.screenshot({ path, animations: 'disabled' })
    console.log(path)
    await visitor.page.unrouteAll({ behavior: 'ignoreErrors' })
    // The browser reports responses with an error status.
    if (/-(?:unreachable|off|refused)$/.test(name)) visitor.browserErrors.length = 0
  }
}
