import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { run } from '../bare-system/run.ts'

export const root = dirname(dirname(import.meta.dirname))
export const chartFolder = join(root, 'deploy/helm/portcullis')

/** The name of the release that the chart is rendered for. */
const releaseName = 'test'

/** A Kubernetes object, as far as the tests read it. */
export interface KubernetesObject {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- the fields depend on the kind; tests compare them
  readonly [field: string]: any
}

/** Example values for the chart, which cover all of its objects. */
export const valueFiles: readonly string[] = globSync('ci/*-values.yaml', { cwd: chartFolder })
  .sort()
  .map((file) => join(chartFolder, file))

export function readChartYaml(file: string) {
  return parse(readFileSync(join(chartFolder, file), 'utf8'))
}

export interface RenderOptions {
  /** Additional values, as in `--set`. */
  readonly set?: readonly string[]
  /** Additional values, as in `--set-json`. */
  readonly setJson?: readonly string[]
}

/** Renders all objects of the chart, including hooks, as YAML. Rejects with the message of Helm. */
export function renderManifests(
  helm: string,
  valueFile: string,
  { set = [], setJson = [] }: RenderOptions = {},
): Promise<string> {
  const sets = [
    ...set.flatMap((one) => ['--set', one]),
    ...setJson.flatMap((one) => ['--set-json', one]),
  ]
  return run(helm, [
    ...['template', releaseName, chartFolder, '--namespace', 'portcullis'],
    ...['--values', valueFile, ...sets],
  ])
}

export async function renderChart(
  helm: string,
  valueFile: string,
  options?: RenderOptions,
): Promise<KubernetesObject[]> {
  return parseObjects(await renderManifests(helm, valueFile, options))
}

export function parseObjects(text: string): KubernetesObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((object) => object !== null)
}
