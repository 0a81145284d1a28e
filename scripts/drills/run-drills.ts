import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { copyPackage } from './copy-package.ts'
import type { Drill } from './drill.ts'

/** Programs whose `--help` lists the entries of a package's indexes. */
const helpCommands: Readonly<Record<string, readonly [string, ...string[]]>> = {
  auth: ['src/main.ts', 'serve', '--help'],
  ratelimit: ['src/main.ts', 'serve', '--help'],
  'graphql-over-http': ['src/cli/main.ts', '--help'],
}

/**
 * Adds all fakes of a package to one copy, and checks that each of them is available everywhere.
 */
export async function runDrills(t: TestContext, drills: readonly Drill[]): Promise<void> {
  for (const [name, ofPackage] of Map.groupBy(drills, (drill) => drill.package)) {
    await using copy = await copyPackage(name, ofPackage)
    const [errors, wrappedHelp] = await Promise.all([
      copy.checkTypes(),
      copy.run(...(helpCommands[name] ?? ['src/main.ts', '--help'])),
    ])
    const help = wrappedHelp.replaceAll(/\s+/g, ' ')
    await t.test(`${name}: the type checker finds no error`, () => assert.equal(errors, ''))
    for (const drill of ofPackage) {
      await t.test(`${name}: ${drill.kind}`, async () => {
        for (const text of drill.help) assert.ok(help.includes(text), `--help lacks ${text}`)
        await drill.prove(copy)
      })
    }
  }
}
