import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type ProgramName, programs } from '@portcullis/test-servers'
import { findProgram } from '../../packages/test-servers/src/programs/find-program.ts'
import { run } from '../bare-system/run.ts'
import { chartFolder, renderManifests, root, valueFiles } from './chart.ts'
import { toSchemaLocation, writeSchemas } from './kubernetes-schemas.ts'

const recipes = ['deploy/gateway/envoy-gateway.yaml', 'deploy/gateway/istio.yaml']

/** Lints and renders the chart, and validates all objects; returns what was validated. */
export async function checkChart(cache: string): Promise<string[]> {
  const helm = await provideGoProgram('helm')
  const kubeconform = await provideGoProgram('kubeconform')
  const schemas = join(cache, 'kubernetes-schemas')
  if (!existsSync(join(schemas, 'complete'))) {
    console.log('Writing the schemas of Kubernetes and of the custom resources…')
    await writeSchemas(schemas)
    writeFileSync(join(schemas, 'complete'), '')
  }
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-chart-'))
  try {
    const files = recipes.map((file) => join(root, file))
    for (const values of valueFiles) {
      await run(helm, ['lint', '--strict', chartFolder, '--values', values])
      const file = join(folder, `${basename(values, '-values.yaml')}.yaml`)
      writeFileSync(file, await renderManifests(helm, values))
      files.push(file)
    }
    const report = await run(kubeconform, [
      ...['-strict', '-summary', '-schema-location', toSchemaLocation(schemas)],
      ...files,
    ])
    await run(helm, ['package', chartFolder, '--destination', folder])
    return report.trim().split('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The path of a program that Go builds if it is missing, which takes minutes. */
async function provideGoProgram(name: ProgramName & ('helm' | 'kubeconform')): Promise<string> {
  const program = programs[name]
  const found = findProgram(program)
  if (found !== undefined) return found
  console.log(`Building ${name} (go install ${program.goPackage})…`)
  await run('go', ['install', program.goPackage])
  const built = findProgram(program)
  if (built !== undefined) return built
  throw new Error(`go install has not written ${name} to ${program.places[0]}. Add it to PATH.`)
}
