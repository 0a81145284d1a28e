/**
 * @legs safety, endurance
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { enduranceOr } from '@portcullis/test-servers/endurance'

const toPath = (name: string) => fileURLToPath(new URL(`./support/${name}`, import.meta.url))
const megabyte = 2 ** 20

/** The limit that the manual states. */
const maxGrowth = 16 * megabyte
const characters = enduranceOr(3_000_000, 400_000)
// Too small for the syntax trees of all documents that are sent.
const heapMegabytes = enduranceOr(128, 48)

for (const [version, args] of [
  [17, []],
  [16, ['--import', toPath('graphql-16.ts')]],
] as const) {
  test(`graphql ${version}: hostile documents take no more memory than the limit of the cache`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...args,
      '--expose-gc',
      `--max-old-space-size=${heapMegabytes}`,
      toPath('hostile-documents.ts'),
      String(characters),
    ])
    const growth = Number(stdout)
    assert.ok(growth < maxGrowth, `${Math.round(growth / megabyte)} MiB more`)
  })
}
