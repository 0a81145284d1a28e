import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createCommand } from '@portcullis/bench-kit/command'
import { parseCount, parseOptions, parseSelection } from '@portcullis/bench-kit/options'
import { measureStores } from './counter-stores.ts'
import { measureProtobuf } from './protobuf.ts'
import { measureYaml } from './yaml.ts'

const help = `Usage: npm run bench -- hand-written [OPTION…]

Compares hand-written code with the libraries that could replace it, on the
same work: counter stores in Redis and memcached, reading rule files, protobuf
messages. Contenders have a process each and take turns; the ratio is the
median of the ratios of the rounds. The libraries are installed for it.

Options:
  --only NAMES     comma-separated list of redis, redis-cluster, memcached,
                   yaml, protobuf
  --rounds N       number of measurements of each; default: 9
  --decisions N    decisions with one counter in a round; default: 200000
  --contract       no measurement: check the requirements for counter stores for
                   each contender
  --help           show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const options = {
  only: { type: 'string' },
  rounds: { type: 'string', default: '9' },
  decisions: { type: 'string', default: '200000' },
  contract: { type: 'boolean', default: false },
} as const

interface Plan {
  readonly rounds: number
  readonly decisions: number
}

const subjects: Readonly<Record<string, (plan: Plan) => Promise<void>>> = {
  redis: (plan) => measureStores('redis', plan),
  'redis-cluster': (plan) => measureStores('redis-cluster', plan),
  memcached: (plan) => measureStores('memcached', plan),
  yaml: measureYaml,
  protobuf: measureProtobuf,
}

function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, options)
  return {
    isHelpWanted: values.help,
    only: parseSelection(values.only, Object.keys(subjects)),
    rounds: parseCount('rounds', values.rounds),
    decisions: parseCount('decisions', values.decisions),
    isContractWanted: values.contract,
  }
}

/** Resolves to the exit code. */
export const run = createCommand({ name: 'hand-written', help, parse: parseSettings, run: measure })

async function measure(settings: ReturnType<typeof parseSettings>): Promise<number> {
  const installer = join(import.meta.dirname, '..', '..', '..', '..', 'scripts', 'install.mjs')
  const { ensureInstalled } = await import(installer)
  await ensureInstalled(join(import.meta.dirname, 'peers'))
  if (settings.isContractWanted) return await runContract()
  for (const name of settings.only) await subjects[name]?.(settings)
  return 0
}

async function runContract(): Promise<number> {
  const file = join(import.meta.dirname, 'contract.ts')
  const test = spawn(process.execPath, ['--test', file], { stdio: 'inherit' })
  const [code] = await once(test, 'exit')
  return code ?? 1
}
