import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { folder } from '../../dashboards.ts'

export interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}

interface RuleTestFile {
  readonly tests: readonly {
    readonly name: string
    readonly promql_expr_test: readonly {
      readonly exp_samples: readonly { readonly labels: string }[]
    }[]
  }[]
}

export const rulePaths = globSync('rules/*.yaml', { cwd: folder }).map((path) => join(folder, path))
export const ruleTestPaths = globSync('rules/tests/*.yaml', { cwd: folder }).map((path) =>
  join(folder, path),
)

export const rules = rulePaths.flatMap((path) => {
  const { groups }: RuleFile = parse(readFileSync(path, 'utf8'))
  return groups.flatMap((group) => group.rules)
})

export const alerts = rules.flatMap((rule) => (rule.alert ? [{ ...rule, alert: rule.alert }] : []))

/** For each check in a promtool test: the alerts that must fire. */
export const expectedAlerts = ruleTestPaths.flatMap((path) => {
  const { tests }: RuleTestFile = parse(readFileSync(path, 'utf8'))
  return tests.flatMap(({ name, promql_expr_test: checks }) =>
    checks.map(({ exp_samples: samples }) => ({
      test: name,
      alerts: samples.flatMap(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1] ?? []),
    })),
  )
})

/** The server that an alert is about, which is also the name of its page of runbooks. */
export function toServer(alert: string): 'auth' | 'ratelimit' {
  return alert.startsWith('Auth') ? 'auth' : 'ratelimit'
}
