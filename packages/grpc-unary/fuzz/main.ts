import { parseArgs } from 'node:util'
import { toReason } from '../src/reason.ts'
import { fuzz, type Progress, type Target, targets } from './run.ts'

const usage = `Usage: npm run fuzz -- [OPTION…]

Fuzzes the HTTP/2 of grpc-unary, without a network. At the first failure, it
prints the seed, the number and the bytes of the input. Failures are:

- an uncaught exception, a slow input or growing memory
- a response that is not correct HTTP/2, or depends on how the bytes were split
- an error for a legitimate client, or for the next client
- a connection that leaves resources behind
- for HPACK, a field or table that differs from that of an independent encoder

Options:
  --inputs N     number of inputs for each target; default: 10000000
  --seed N       the same seed generates the same inputs; default: from the
                 clock
  --first N      number of the first input; with --inputs 1, repeats a single
                 input; default: 0
  --minutes N    stops each target after this many minutes
  --target NAME  runs only this target: ${Object.keys(targets).join(', ')};
                 default: all
  --help         show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

class UsageError extends Error {}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const isUsage = error instanceof UsageError
  console.error(toReason(error))
  if (isUsage) console.error('See: npm run fuzz -- --help')
  process.exitCode = isUsage ? 2 : 1
}

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options === undefined) {
    console.log(usage)
    return 0
  }
  console.log(`seed ${options.seed}`)
  for (const target of options.chosen) {
    const count = await fuzz(target, { ...options, progress: show })
    console.log(`${target}: ${count.toLocaleString('en')} inputs without a fault`)
  }
  return 0
}

function readOptions(args: readonly string[]) {
  const { values } = parseOptions(args)
  if (values.help) return undefined
  return {
    seed: toNumber('seed', values.seed) ?? Date.now() % 2 ** 31,
    inputs: toNumber('inputs', values.inputs) ?? 10_000_000,
    first: toNumber('first', values.first) ?? 0,
    minutes: toNumber('minutes', values.minutes) ?? Number.POSITIVE_INFINITY,
    chosen: toTargets(values.target),
  }
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        inputs: { type: 'string' },
        seed: { type: 'string' },
        first: { type: 'string' },
        minutes: { type: 'string' },
        target: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(toReason(error))
  }
}

function toNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text.replaceAll('_', ''))
  if (text.trim() === '' || !(number >= 0)) {
    throw new UsageError(`--${name} must be a number from 0, not "${text}".`)
  }
  return number
}

function toTargets(name: string | undefined): Target[] {
  const known = Object.keys(targets).filter((key): key is Target => key in targets)
  if (name === undefined) return known
  const chosen = known.filter((key) => key === name)
  if (chosen.length === 0) {
    throw new UsageError(`--target must be one of ${known.join(', ')}, not "${name}".`)
  }
  return chosen
}

function show({ target, inputs, seconds, cpuSeconds, heapBytes }: Progress): void {
  const count = inputs.toLocaleString('en')
  const perInput = ((cpuSeconds * 1e6) / Math.max(1, inputs)).toFixed(1)
  const megabytes = (heapBytes / 2 ** 20).toFixed(1)
  const time = `${seconds.toFixed(0)} s`
  console.log(`${target} ${count} inputs, ${time}, ${perInput} µs CPU each, heap ${megabytes} MiB`)
}
