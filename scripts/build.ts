// Compiles every published package into its dist folder:  npm run build

import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { toArgumentError, toArgumentFault } from '@portcullis/service-kit/cli/argument-faults'
import {
  ApiReportError,
  checkApiReport,
  type ReportedPackage,
} from './packaging/api-report/api-report.ts'
import { BuildError } from './packaging/build-error.ts'
import { buildInsidePackages, buildPackage } from './packaging/build-package.ts'
import { listFiles } from './packaging/list-files.ts'
import { findPublishedPackages, root } from './packaging/published-packages.ts'

const help = `Usage: npm run build -- [OPTION…]

Compiles every published package (packages/* with a tsconfig.build.json) into
its folder dist/: JavaScript modules, declarations, package.json, README and
LICENSE. Development needs no build; \`npm run pack\` runs the build itself.

Options:
  --update-api  also write the exports of each package to its api.md
  --help        show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

try {
  const { values } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' }, 'update-api': { type: 'boolean' } },
  })
  if (values.help) console.log(help)
  else await buildAll(values['update-api'] === true)
} catch (error) {
  const isUsage = error instanceof TypeError && 'code' in error
  if (!isUsage && !(error instanceof BuildError)) throw error
  process.stderr.write(
    isUsage ? toArgumentError('npm run build --', toArgumentFault(error)) : `${error.message}\n`,
  )
  process.exitCode = isUsage ? 2 : 1
}

async function buildAll(updatesApi: boolean): Promise<void> {
  await buildInsidePackages()
  for (const published of findPublishedPackages()) {
    const start = performance.now()
    const subpaths = await buildPackage(published)
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const { manifest, dist, folder } = published
    console.log(
      `✓ ${manifest.name} ${manifest.version}: ${listFiles(dist).length} files in ` +
        `${relative(root, dist)} (${seconds} s)`,
    )
    if (updatesApi && subpaths.length > 0) {
      writeApiReport({ name: manifest.name, folder, dist, subpaths })
    }
  }
}

/** Reports missing comments without stopping, so that the other packages are built too. */
function writeApiReport(reported: ReportedPackage): void {
  try {
    checkApiReport(reported, true)
  } catch (error) {
    if (!(error instanceof ApiReportError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
