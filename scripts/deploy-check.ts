// Builds and tests what deploy/ contains, with programs that npm test does not install:
//
//   npm run deploy-check -- chart     builds Helm and kubeconform with Go, lints, renders and validates the chart
//   npm run deploy-check -- images    builds the images with buildah, and runs each with a read-only file system
//
// Run it before each release and whenever you change deploy/.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkChart } from './deploy/check-chart.ts'
import { checkImages } from './deploy/check-images.ts'

const checks: Readonly<Record<string, (cache: string) => Promise<readonly string[]>>> = {
  chart: checkChart,
  images: checkImages,
}

const usage = `Usage: npm run deploy-check -- ${Object.keys(checks).join('|')}`
const [name = '', ...others] = process.argv.slice(2)
const check = checks[name]
if (name === '--help' || name === '-h') {
  console.log(usage)
} else if (check === undefined || others.length > 0) {
  console.error(usage)
  process.exitCode = 2
} else {
  const cache = join(import.meta.dirname, '..', '.cache', 'deploy')
  mkdirSync(cache, { recursive: true })
  try {
    for (const line of await check(cache)) console.log(line)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
