// Tests the content of deploy/ with programs that npm test does not install.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { toArgumentError, toVerbFault } from '@portcullis/service-kit/cli/argument-faults'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { checkChart } from './deploy/check-chart.ts'
import { checkImages } from './deploy/check-images.ts'

const checks: Readonly<Record<string, (cache: string) => Promise<readonly string[]>>> = {
  chart: checkChart,
  images: checkImages,
}

const help = `Usage: npm run deploy-check -- VERB

Tests the content of deploy/ with programs that npm test does not install.
Run it before each release, and whenever you change deploy/.

  chart   builds Helm and kubeconform with Go; lints, renders and validates the
          chart
  images  builds the images with buildah, and runs each with a read-only file
          system; needs root on Debian

Options:
  --help  show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const [name = '', ...others] = process.argv.slice(2)
const check = checks[name]
if (name === '--help' || name === '-h') {
  console.log(help)
} else if (check === undefined || others.length > 0) {
  process.stderr.write(toArgumentError('npm run deploy-check --', findFault()))
  process.exitCode = 2
} else {
  const cache = join(import.meta.dirname, '..', '.cache', 'deploy')
  mkdirSync(cache, { recursive: true })
  try {
    for (const line of await check(cache)) console.log(line)
  } catch (error) {
    console.error(toMessage(error))
    process.exitCode = 1
  }
}

function findFault(): string {
  if (check === undefined) return toVerbFault(name || undefined, Object.keys(checks))
  return `Unexpected argument ${JSON.stringify(others[0])}.`
}
