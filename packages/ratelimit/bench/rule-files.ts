import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { domain, toTenant } from './requests.ts'

const plenty = 4_000_000_000

/**
 * A rule file with this number of tenants, each with its own limit, and a few rules for unknown callers.
 * @param limit - distinguishes one version of the file from the next
 */
export function toRuleFile(rules: number, limit = plenty): string {
  const tenants = Array.from(
    { length: rules },
    (_, index) => `  - key: tenant
    value: ${toTenant(index)}
    descriptors:
      - key: path
        rate_limit: { unit: hour, requests_per_unit: ${limit} }
`,
  )
  return `domain: ${domain}
descriptors:
${tenants.join('')}  - key: guest
    descriptors:
      - key: exhausted
        rate_limit: { unit: hour, requests_per_unit: 1 }
      - key: each-second
        rate_limit: { unit: second, requests_per_unit: ${plenty} }
      - key: each-minute
        rate_limit: { unit: minute, requests_per_unit: ${plenty} }
      - key: each-hour
        rate_limit: { unit: hour, requests_per_unit: ${plenty} }
`
}

/** The location of the rules of a server: `RUNTIME_ROOT/RUNTIME_SUBDIRECTORY/RUNTIME_APPDIRECTORY`. */
export interface RuleFolder {
  readonly root: string
  readonly subdirectory: string
  readonly appDirectory: string
  readonly file: string
}

export async function writeRules(root: string, rules: number, limit?: number): Promise<RuleFolder> {
  const subdirectory = 'ratelimit'
  const appDirectory = 'config'
  const folder = join(root, subdirectory, appDirectory)
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'bench.yaml')
  // The file is written elsewhere and moved, so that no server reads a part of it.
  const draft = join(root, 'draft.yaml')
  await writeFile(draft, toRuleFile(rules, limit))
  await rename(draft, file)
  return { root, subdirectory, appDirectory, file }
}
