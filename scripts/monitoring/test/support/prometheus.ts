import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { open } from '@portcullis/test-servers'
import { parse } from 'yaml'
import { folder } from '../../dashboards.ts'
import { rulePaths } from './rule-files.ts'

type Targets = Readonly<Record<'auth' | 'ratelimit', readonly string[]>>

interface ActiveAlert {
  readonly state: 'pending' | 'firing'
  readonly labels: { readonly alertname: string }
}

interface LoadedGroup {
  readonly rules: readonly LoadedRule[]
}

interface LoadedRule {
  readonly name: string
  readonly health: string
  readonly lastError?: string
}

export interface Prometheus {
  /** The number of series in the result. Throws if the expression is invalid. */
  countSeries(expression: string): Promise<number>
  /** The names of the alerts that are firing. */
  readFiring(): Promise<ReadonlySet<string>>
  readRules(): Promise<readonly LoadedRule[]>
}

export interface PrometheusSettings {
  readonly interval: string
  /**
   * Whether the durations in `for` and the intervals of groups are removed from the rules, so that alerts fire as soon
   * as their condition is true.
   */
  readonly isImmediate: boolean
}

/** Opens a Prometheus with the example configuration and these targets. Undefined if it is missing. */
export async function openMonitoring(
  t: TestContext,
  targets: Targets,
  { interval, isImmediate }: PrometheusSettings,
): Promise<Prometheus | undefined> {
  const config = parse(readFileSync(join(folder, 'prometheus.yaml'), 'utf8'))
  for (const job of config.scrape_configs) {
    const name: keyof Targets = job.job_name
    job.static_configs = [{ targets: targets[name] }]
  }
  const server = await open(t, 'prometheus', {
    config: {
      ...config,
      global: { scrape_interval: interval, evaluation_interval: interval },
      rule_files: isImmediate ? copyWithoutDelays(t) : rulePaths,
    },
  })
  if (!server) return undefined
  const read = async (path: string) => {
    const answer = await (await fetch(`${server.url}/api/v1/${path}`)).json()
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`)
    return answer.data
  }
  return {
    countSeries: async (expression) =>
      (await read(`query?query=${encodeURIComponent(expression)}`)).result.length,
    readFiring: async () => {
      const { alerts }: { readonly alerts: readonly ActiveAlert[] } = await read('alerts')
      const firing = alerts.filter(({ state }) => state === 'firing')
      return new Set(firing.map(({ labels }) => labels.alertname))
    },
    readRules: async () => {
      const { groups }: { readonly groups: readonly LoadedGroup[] } = await read('rules')
      return groups.flatMap(({ rules }) => rules)
    },
  }
}

function copyWithoutDelays(t: TestContext): string[] {
  const copies = mkdtempSync(join(tmpdir(), 'portcullis-rules-'))
  t.after(() => rmSync(copies, { recursive: true, force: true }))
  return rulePaths.map((path) => {
    const copy = join(copies, basename(path))
    writeFileSync(copy, readFileSync(path, 'utf8').replaceAll(/^ +(?:for|interval): \w+\n/gm, ''))
    return copy
  })
}
