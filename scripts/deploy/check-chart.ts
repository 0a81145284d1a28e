import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type ProgramName, programs } from '@portcullis/test-servers'
import { findProgram } from '../../packages/test-servers/src/programs/find-program.ts'
import { run } from '../bare-system/run.ts'
import { chartFolder, renderManifests, root, valueFiles } from './chart.ts'
import { toSchemaLocation, writeSchemas } from './kubernetes-schemas.ts'

const recipes = ['deploy/gateway/envoy-gateway.yaml', 'deploy/gateway/istio.yaml']

/** Lints and renders the chart, and validates all objects. Returns the summary of kubeconform. */
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

/** Returns the path of a program. If it is missing, Go builds it, which takes minutes. */
async function provideGoProgram(name: ProgramName & ('helm' | 'kubeconform')): Promise<string> {
  const program = programs[name]
  const found = findProgram(program)
  if (found !== undefined) return found
  console.log(`Building ${name} (go install ${program.goPackage})…`)
  await run('go', ['install', program.goPackage])
  const built = findProgram(program)
  if (built !== undefined) return built
  throw new Error(
    `go install did not write ${name} to ${program.places[0]}. Add the folder of "go env GOBIN" to PATH.`,
  )
}
