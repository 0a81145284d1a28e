import { readFileSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { createCommand } from '@portcullis/bench-kit/command'
import { parseChoice, parseCount, parseOptions } from '@portcullis/bench-kit/options'
import { createProgress } from '@portcullis/bench-kit/progress'
import { describeMachine } from '@portcullis/bench-kit/results'
import { endOnSignals } from '@portcullis/bench-kit/server-process'
import { root } from '../packaging/published-packages.ts'
import { compareGraphqlServers } from './graphql-servers.ts'
import { graphqlServers, limiters } from './libraries.ts'
import { compareLimiters } from './limiters.ts'
import { replaceSection } from './page.ts'
import type { Sections, Settings } from './run.ts'
import { openWorkspace } from './workspace.ts'

const help = `Usage: npm run bench -- peers [OPTION…]

Compares the limiter and the GraphQL library with others: features, lines for
the same task, packages, bundle, CPU time and memory. The others are installed
from the npm registry into a temporary folder.

Options:
  --write        write the tables into docs/comparison.md
  --only AREA    limiter or graphql; default: both
  --rounds N     how often each is measured, in turn; default: 7
  --calls N      decisions of a limiter in a round, a tenth of them with Redis;
                 default: 500000
  --keys N       number of keys in the large case; default: 1000000
  --requests N   HTTP requests in a round; default: 5000
  --help         show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const areas = {
  limiter: { libraries: limiters, compare: compareLimiters },
  graphql: { libraries: graphqlServers, compare: compareGraphqlServers },
}

const options = {
  write: { type: 'boolean', default: false },
  only: { type: 'string' },
  rounds: { type: 'string', default: '7' },
  calls: { type: 'string', default: '500000' },
  keys: { type: 'string', default: '1000000' },
  requests: { type: 'string', default: '5000' },
} as const

function parseSettings(args: readonly string[]) {
  const { only, ...values } = parseOptions(args, options)
  const names = ['limiter', 'graphql'] as const
  return {
    isHelpWanted: values.help,
    isWriting: values.write,
    areas: only === undefined ? names : [parseChoice('only', only, names)],
    rounds: parseCount('rounds', values.rounds),
    calls: parseCount('calls', values.calls),
    keys: parseCount('keys', values.keys),
    requests: parseCount('requests', values.requests),
  }
}

/** Resolves to the exit code. */
export const run = createCommand({ name: 'peers', help, parse: parseSettings, run: compare })

async function compare(settings: ReturnType<typeof parseSettings>): Promise<number> {
  endOnSignals()
  const progress = createProgress()
  progress.note('building the packages')
  const libraries = settings.areas.flatMap((area) => areas[area].libraries)
  const ours = libraries.filter(({ isOurs }) => isOurs).flatMap(({ packages }) => packages)
  using workspace = await openWorkspace(ours)
  const sections: Record<string, string> = {}
  for (const area of settings.areas) {
    Object.assign(sections, await areas[area].compare({ workspace, settings, progress }))
    sections[`${area} machine`] = describeRun(area, settings)
  }
  progress.end()
  for (const [name, content] of Object.entries(sections)) console.log(`\n${name}\n${content}`)
  if (settings.isWriting) writeSections(sections)
  return 0
}

function describeRun(area: keyof typeof areas, settings: Settings): string {
  const { rounds, calls, requests } = settings
  const { date, cpu, cores, system, node } = describeMachine()
  const memory = Math.round(totalmem() / 2 ** 30)
  const count = (value: number) => value.toLocaleString('en-US')
  const machine = `${cpu}, ${cores} cores, ${memory} GiB, ${system}, Node ${node}`
  const decisions =
    area === 'limiter' ? `${count(calls)} decisions (a tenth of them with Redis), and of ` : ''
  return `Measured on ${date} on ${machine}: ${rounds} rounds of ${decisions}${count(requests)} requests.`
}

function writeSections(sections: Sections): void {
  const file = join(root, 'docs', 'comparison.md')
  let page = readFileSync(file, 'utf8')
  for (const [name, content] of Object.entries(sections)) {
    page = replaceSection(page, name, content)
  }
  writeFileSync(file, page)
  console.log('\nWritten: docs/comparison.md')
}
