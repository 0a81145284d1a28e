import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleWeb } from '../../../packages/portcullis/bundle/bundle-web.ts'

/**
 * Bundles the console's page in advance, so that the package needs neither its sources nor a
 * bundler.
 */
export async function writeWebAssets(dist: string): Promise<void> {
  const folder = join(dist, 'lib', 'web-assets')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of await bundleWeb()) writeFileSync(join(folder, name), text)
}
