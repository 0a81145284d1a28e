import { randomUUID } from 'node:crypto'
import { createCommand } from '@portcullis/bench-kit/command'
import { parseCount, parseOptions } from '@portcullis/bench-kit/options'
import { toRoundOrder } from '@portcullis/bench-kit/rounds'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import { formatRatio, formatTable, left, right } from '@portcullis/bench-kit/table'
import { openPostgresEmbedded } from '@portcullis/test-servers'
import { Client } from 'pg'
import { runPrepared } from '../../src/db/connection/prepared-query.ts'

const help = `Usage: npm run bench -- auth-driver [OPTION…]

Measures the CPU time of this process for reading a row like that of a user from
PostgreSQL: with the query of pg, with ours, which requests the columns once,
and with ours for 16 requests at once.

Options:
  --rounds N  rounds of measurement; default: 15
  --calls N   requests in a round; default: 1600
  --help      show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const options = {
  rounds: { type: 'string', default: '15' },
  calls: { type: 'string', default: '1600' },
} as const

function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, options)
  return {
    isHelpWanted: values.help,
    rounds: parseCount('rounds', values.rounds),
    calls: parseCount('calls', values.calls),
  }
}

export const run = createCommand({ name: 'auth-driver', help, parse: parseSettings, run: measure })

/** As many columns as a user, most of them times that are null. */
const columns = Array.from({ length: 27 }, (_, index) => {
  const value = ["'some text'::text", 'now()', 'null::timestamptz'][index % 3]
  return `${value} as some_column_${index}`
})
const text = `select position, id, ${columns.join(', ')}, '{"provider": "email"}'::jsonb as metadata,
  '[]'::json as identities from unnest($1::uuid[]) with ordinality as request(id, position)`

interface Variant {
  readonly label: string
  readonly requestsAtOnce: number
  read(client: Client, ids: readonly string[]): Promise<unknown>
}

const variants: readonly Variant[] = [
  {
    label: 'the query of pg',
    requestsAtOnce: 1,
    read: (client, ids) => client.query({ name: 'read', text, values: [ids] }),
  },
  {
    label: 'columns requested once',
    requestsAtOnce: 1,
    read: (client, ids) => runPrepared(client, { name: 'read_once', text, values: [ids] }),
  },
  {
    label: 'columns requested once, 16 requests at once',
    requestsAtOnce: 16,
    read: (client, ids) => runPrepared(client, { name: 'read_batch', text, values: [ids] }),
  },
]

async function measure({ rounds, calls }: ReturnType<typeof parseSettings>): Promise<number> {
  const postgres = await openPostgresEmbedded({})
  const client = new Client({ connectionString: postgres.url })
  try {
    await client.connect()
    const measured = variants.map((variant) => ({ variant, microseconds: [] as number[] }))
    for (const { variant } of measured) await readAll(client, variant, calls)
    for (let round = 0; round < rounds; round++) {
      for (const { variant, microseconds } of toRoundOrder(measured, round)) {
        microseconds.push(await readAll(client, variant, calls))
      }
    }
    const first = measured[0]?.microseconds ?? []
    const rows = measured.map(({ variant, microseconds }) => [
      variant.label,
      median(microseconds).toFixed(1),
      formatRatio(medianRatio(microseconds, first)),
    ])
    console.log(formatTable([left(''), right('µs per request'), right('× pg')], rows))
    return 0
  } finally {
    await client.end()
    await postgres.stop()
  }
}

/** Resolves to the CPU time of a request in microseconds. */
async function readAll(client: Client, variant: Variant, calls: number): Promise<number> {
  const ids = Array.from({ length: variant.requestsAtOnce }, () => randomUUID())
  const times = Math.ceil(calls / ids.length)
  const start = process.cpuUsage()
  for (let time = 0; time < times; time++) await variant.read(client, ids)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / (times * ids.length)
}
