// Compiles every published package into its dist folder:  npm run build

import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { BuildError } from './packaging/build-error.ts'
import { buildInsidePackages, buildPackage, listFiles } from './packaging/build-package.ts'
import { findPublishedPackages, root } from './packaging/published-packages.ts'

const help = `Usage: npm run build

Compiles every published package (packages/* with a tsconfig.build.json) into its folder dist/:
JavaScript modules, declarations, and the package.json, README and LICENSE that go with them.
Development needs no build; \`npm run pack\` builds by itself.`

try {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) console.log(help)
  else await buildAll()
} catch (error) {
  const isUsage = error instanceof TypeError && 'code' in error
  if (!isUsage && !(error instanceof BuildError)) throw error
  console.error(isUsage ? `${error.message}\n\n${help}` : error.message)
  process.exitCode = isUsage ? 2 : 1
}

async function buildAll(): Promise<void> {
  await buildInsidePackages()
  for (const published of findPublishedPackages()) {
    const start = performance.now()
    await buildPackage(published)
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const { manifest, dist } = published
    console.log(
      `✓ ${manifest.name} ${manifest.version}: ${listFiles(dist).length} files in ` +
        `${relative(root, dist)} (${seconds} s)`,
    )
  }
}
