// Runs the probes of an area against one library, in the folder where the library is installed, and sends the
// values of the cells to the parent.
// Arguments: the area, the library's file in it, and the package whose declarations are searched.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

// Libraries log the errors that the probes cause.
console.error = console.warn = () => {}

const [area, library, packageName] = process.argv.slice(2)
const { probes } = await import(`./${area}/probes.mjs`)
const { features } = await import(`./${area}/features/${library}.mjs`)

const unknown = Object.keys(features).filter((name) => !(name in probes))
if (unknown.length > 0) throw new Error(`${library}: unknown probe ${unknown}`)

const values = {}
const failures = []
for (const [name, { run }] of Object.entries(probes)) {
  try {
    await waitForMinute()
    values[name] = await readValue(features[name], run)
  } catch (error) {
    failures.push(`${library}: the probe ${name} failed: ${error.stack}`)
  }
}
const outcome = failures.length > 0 ? { failure: failures.join('\n') } : values
process.send(outcome, () => process.exit())

/** The windows of some limiters begin with the minute, so a probe must not cross it. */
async function waitForMinute() {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < 8000) await wait(left + 50)
}

async function readValue(feature, run) {
  if (feature.kind === 'missing') return checkMissing(feature.pattern)
  if (feature.kind === 'documented') return `[documented](${feature.url})`
  const create = feature.kind === 'plugin' ? feature.create : feature
  if (!(await run(create))) return 'no'
  return feature.kind === 'plugin' ? `with ${feature.name}` : 'yes'
}

function checkMissing(pattern) {
  const folder = join(import.meta.dirname, 'node_modules', packageName)
  const exclude = (path) => path.includes('node_modules')
  for (const file of globSync('**/*.d.{ts,mts,cts}', { cwd: folder, exclude })) {
    const found = pattern.exec(withoutComments(readFileSync(join(folder, file), 'utf8')))
    if (found) throw new Error(`${file} has "${found[0]}", so the feature needs a probe`)
  }
  return 'no'
}

function withoutComments(code) {
  return code.replaceAll(/\/\*.*?\*\/|^\s*\/\/.*?$/gms, '')
}
