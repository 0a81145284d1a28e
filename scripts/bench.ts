// npm run bench -- NAME [OPTION…]

import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { wrapText } from '@portcullis/service-kit/text/format'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { toQuestion } from '@portcullis/service-kit/text/similar-names'

interface Benchmark {
  readonly summary: string
  /** Loads and runs the benchmark. Resolves to the exit code. */
  readonly run: (args: readonly string[]) => Promise<number>
}

/** All benchmarks; a new one is registered here. */
const benchmarks: { readonly [name: string]: Benchmark } = {
  attacks: {
    summary: 'the rate limit service under attack, with a legitimate client',
    run: async (args) => {
      const { run } = await import('../packages/ratelimit/bench/attacks/attacks.bench.ts')
      return run(args)
    },
  },
  auth: {
    summary: 'the authentication server, compared with Supabase Auth if one is given',
    run: async (args) => {
      const { run } = await import('../packages/auth/bench/auth.bench.ts')
      return run(args)
    },
  },
  'auth-driver': {
    summary: 'reading a row from PostgreSQL, compared with the query of pg',
    run: async (args) => {
      const { run } = await import('../packages/auth/bench/driver/driver.bench.ts')
      return run(args)
    },
  },
  'auth-import': {
    summary: 'the import of a million users from Supabase Auth',
    run: async (args) => {
      const { run } = await import('../packages/auth/bench/import/import.bench.ts')
      return run(args)
    },
  },
  'auth-plans': {
    summary: 'the statements of the authentication server: time, buffers and indexes',
    run: async (args) => {
      const { run } = await import('../packages/auth/bench/plans/plans.bench.ts')
      return run(args)
    },
  },
  'auth-soak': {
    summary: 'the authentication server for minutes, with a mix of requests',
    run: async (args) => {
      const { run } = await import('../packages/auth/bench/soak/soak.bench.ts')
      return run(args)
    },
  },
  'auth-tokens': {
    summary: 'signing and verifying access tokens, compared with jose',
    run: async (args) => {
      const { run } = await import('../packages/auth/bench/tokens/tokens.bench.ts')
      return run(args)
    },
  },
  'first-calls': {
    summary: 'the rate limit service just after its start, and after the loss of a worker',
    run: async (args) => {
      const { run } = await import('../packages/ratelimit/bench/first-calls.bench.ts')
      return run(args)
    },
  },
  graphql: {
    summary: 'the GraphQL library compared with other servers',
    run: async (args) => {
      const { run } = await import('../packages/graphql-over-http/bench/graphql.bench.ts')
      return run(args)
    },
  },
  'hand-written': {
    summary: 'hand-written code compared with the library that could take its place',
    run: async (args) => {
      const { run } = await import('../packages/ratelimit/bench/hand-written/hand-written.bench.ts')
      return run(args)
    },
  },
  limiter: {
    summary: 'the in-process limiter, compared with rate-limiter-flexible',
    run: async (args) => {
      const { run } = await import('../packages/ratelimit/bench/limiter/limiter.bench.ts')
      return run(args)
    },
  },
  metrics: {
    summary: 'adding to a counter, compared with OpenTelemetry',
    run: async (args) => {
      const { run } = await import('../packages/auth/bench/metrics/metrics.bench.ts')
      return run(args)
    },
  },
  peers: {
    summary: 'the limiter and the GraphQL library compared with others, for docs/comparison.md',
    run: async (args) => {
      const { run } = await import('./comparison/peers.bench.ts')
      return run(args)
    },
  },
  ratelimit: {
    summary: 'the rate limit service, compared with envoyproxy/ratelimit if one is given',
    run: async (args) => {
      const { run } = await import('../packages/ratelimit/bench/ratelimit.bench.ts')
      return run(args)
    },
  },
  revocations: {
    summary: 'from a sign-out to the first call that an API refuses',
    run: async (args) => {
      const { run } = await import('../packages/auth/bench/revocations/revocations.bench.ts')
      return run(args)
    },
  },
  soak: {
    summary: 'the rate limit service for minutes, with new rules every second',
    run: async (args) => {
      const { run } = await import('../packages/ratelimit/bench/soak.bench.ts')
      return run(args)
    },
  },
}

const list = Object.entries(benchmarks)
  .map(([name, { summary }]) => {
    const lines = wrapText(summary, 64).join(`\n${' '.repeat(16)}`)
    return `  ${name.padEnd(14)}${lines}`
  })
  .join('\n')
const help = `Usage: npm run bench -- NAME [OPTION…]

Benchmarks:
${list}

Options:
  --help  show this text, or after NAME the options of a benchmark

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const [name, ...args] = process.argv.slice(2)
const benchmark =
  name !== undefined && Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined

if (benchmark) {
  try {
    process.exitCode = await benchmark.run(args)
  } catch (error) {
    console.error(toMessage(error))
    process.exitCode = 1
  }
} else if (name === undefined || name === '--help' || name === '-h') {
  console.log(help)
} else {
  const question = toQuestion(name, Object.keys(benchmarks))
  const fault = `Unknown benchmark ${JSON.stringify(name)}.${question}`
  process.stderr.write(toArgumentError('npm run bench --', fault))
  process.exitCode = 2
}
