import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { domain, toTenant } from './requests.ts'

const plenty = 4_000_000_000

/**
 * A rule file with as many tenants, each with a limit of its own, and beside them a few
 * rules for callers that nobody knows.
 * @param limit tells one version of the file from the next.
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

/** Where a server finds its rules: `RUNTIME_ROOT/RUNTIME_SUBDIRECTORY/RUNTIME_APPDIRECTORY`. */
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
  // Nobody sees half a file: it is written elsewhere and moved here.
  const draft = join(root, 'draft.yaml')
  await writeFile(draft, toRuleFile(rules, limit))
  await rename(draft, file)
  return { root, subdirectory, appDirectory, file }
}
